"""Importing is cheap: no model library is loaded before it is needed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "sentence_transformers", "faiss", "bs4", "pypdf", "docx", "lxml"}
GRAPH = {"langgraph", "langchain", "langchain_core", "openai", "numpy", "bm25s", "sqlite3"}

HELP = """
import contextlib, io
sys.argv = ["ras-flow", {arguments}]
from ras_flow.cli import main
with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
    main()
assert "Usage" in shown.getvalue()
"""


def loaded(code: str) -> set[str]:
    """Run code in a fresh process; return the top-level packages that it loaded."""
    report = "\nprint(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}{report}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("arguments", ["'--help'", "'ask', '--help'", "'index', '--help'"])
def test_help_loads_neither_models_nor_the_graph(arguments: str) -> None:
    assert loaded(HELP.format(arguments=arguments)) & (HEAVY | GRAPH) == set()


def test_the_package_alone_loads_nothing() -> None:
    assert loaded("import ras_flow") & (HEAVY | GRAPH) == set()


def test_the_public_names_load_no_model_library() -> None:
    code = "import ras_flow\nfor name in ras_flow.__all__: getattr(ras_flow, name)"
    found = loaded(code)
    assert "langgraph" in found and found & HEAVY == set()


def test_an_unknown_name_is_an_attribute_error() -> None:
    import ras_flow

    assert set(ras_flow.__all__) <= set(dir(ras_flow))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = ras_flow.nonsense
