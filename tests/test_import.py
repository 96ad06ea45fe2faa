"""Importing is cheap: no model library is loaded before it is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"torch", "transformers", "sentence_transformers", "faiss", "bs4", "pypdf", "docx", "lxml"}
HEAVY |= {"langchain_openai", "langchain_anthropic", "openai", "anthropic", "pyoxigraph"}
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
    assert loaded("import ras_flow.graph") & (HEAVY | {"sqlite3"}) == set()
    code = "import ras_flow\nfor name in ras_flow.__all__: getattr(ras_flow, name)"
    found = loaded(code)
    assert "langgraph" in found and found & HEAVY == set()


def test_text_forms_know_nothing_of_the_state() -> None:
    code = (
        "import pkgutil, ras_flow.formats as formats\n"
        "for one in pkgutil.iter_modules(formats.__path__, 'ras_flow.formats.'):\n"
        "    __import__(one.name)\n"
        "assert 'ras_flow.formats.plan' in sys.modules\n"
        "assert not {'ras_flow.state', 'ras_flow.parts'} & sys.modules.keys()"
    )
    loaded(code)


INDEX = """
import asyncio
from ras_flow.documents import SourceDocument
from ras_flow.indexes import CorpusIndex
documents = [SourceDocument("a", "Finlandia Hall", "It was designed by Alvar Aalto.")]
asyncio.run(CorpusIndex.build({folder!r}, documents, encoder=None))
sys.argv = ["ras-flow", "index", "info", {folder!r}, "--verify"]
import contextlib, os
from ras_flow.cli import main
with open(os.devnull, "w") as output, contextlib.redirect_stdout(output):
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""


def test_an_index_is_made_and_looked_into_without_the_graph(tmp_path: Path) -> None:
    found = loaded(INDEX.format(folder=str(tmp_path / "index")))
    assert "bm25s" in found and found & (HEAVY | {"langgraph", "langchain_core"}) == set()


def test_kept_triples_are_read_without_the_graph() -> None:
    # LangGraph's graphs load LangSmith; its stores do not.
    assert "langsmith" not in loaded(
        "import ras_flow.runs.databases.stores, ras_flow.triples.cache"
    )


def test_evaluations_are_compared_and_reported_without_the_graph() -> None:
    modules = ("compare", "report", "config")
    found = loaded("\n".join(f"import ras_flow.evaluation.{name}" for name in modules))
    assert found & (HEAVY | {"langgraph", "langchain_core"}) == set()


def test_systems_and_benchmarks_are_listed_without_the_graph() -> None:
    code = HELP.format(arguments="'eval', 'names'").replace("Usage", "benchmarks: ")
    assert loaded(code) & (HEAVY | GRAPH) == set()


def test_an_unknown_name_is_an_attribute_error() -> None:
    import ras_flow

    assert set(ras_flow.__all__) <= set(dir(ras_flow))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = ras_flow.nonsense


def test_a_graph_llm_loads_its_packages_without_their_warnings() -> None:
    code = "from ras_flow.graph_llm.build import require_packages\nrequire_packages()"
    told = ["-W", "error:`torch.jit.script` is deprecated"]
    subprocess.run([sys.executable, *told, "-c", code], check=True)


@pytest.mark.parametrize(
    ("given", "used"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "active"}, "ACTIVE")]
)
def test_threads_rest_while_they_wait_unless_told_otherwise(
    given: dict[str, str], used: str
) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"} | given
    code = "from ras_flow.support.extras import require\nrequire('faiss', extra='local')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"OMP_DISPLAY_ENV": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"OMP_WAIT_POLICY = '{used}'" in done.stderr
