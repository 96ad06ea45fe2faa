from __future__ import annotations

from pathlib import Path

import pytest

SCALE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")


def test_the_program_of_the_page_makes_and_updates_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [program] = [
        block.partition("```")[0]
        for block in SCALE.split("```python\n")[1:]
        if "CorpusIndex.build" in block
    ]
    [line] = [line for line in program.splitlines() if "print(" in line]
    monkeypatch.chdir(tmp_path)
    exec(program, {})
    assert capsys.readouterr().out.strip() == line.partition("# ")[2]
