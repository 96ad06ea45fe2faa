"""`make ask` passes question and documents on as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "question",
    ['Who\'s the "designer" of `Aurora` Bridge; at $5 or $(more)?', "-40 °C in °F?", "# 1?"],
)
def test_make_ask_passes_the_question_on(question: str, tmp_path: Path) -> None:
    """A stand-in for the installed command prints its arguments."""
    stand_in = tmp_path / "ras-flow"
    stand_in.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    stand_in.chmod(0o755)
    docs = str(tmp_path / "my docs")
    command = ["make", "-s", "-o", ".venv/.ask", f"BIN={tmp_path}", "ask", f"Q={question}"]
    for given, corpus in ([f"DOCS={docs}"], ["--docs", docs]), ([], ["--index", "demo"]):
        done = subprocess.run(command + given, cwd=ROOT, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == ["ask", *corpus, "--", question]
