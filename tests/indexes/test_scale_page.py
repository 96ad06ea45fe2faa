from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexes.helpers import scale_program


def test_the_program_of_the_page_makes_and_updates_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = scale_program("CorpusIndex.build")
    [line] = [line for line in program.splitlines() if "print(" in line]
    monkeypatch.chdir(tmp_path)
    exec(program, {})
    assert capsys.readouterr().out.strip() == line.partition("# ")[2]
