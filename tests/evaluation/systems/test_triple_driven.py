"""T²RAG and its ablations in an evaluation: measures of clues, errors, the report."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from ras_flow.evaluation.config import parse_config
from ras_flow.evaluation.rows import ROW, Row
from ras_flow.evaluation.runner import evaluate
from ras_flow.evaluation.systems.ablations import ChunkRetriever
from ras_flow.parts.chosen import Parts
from ras_flow.parts.records import TripleQuery
from ras_flow.t2rag.settings import T2Context
from ras_flow.testing import ListRetriever, MappingExtractor, ScriptedModel
from tests.t2rag.world import FACTS, QUESTION, TEXTS, read, world

GOLD = [[subject, predicate, value] for (subject, predicate), value in FACTS.items()][:4]
FILMS = {
    "id": "films",
    "question": QUESTION,
    "answers": ["Northern Light"],
    "support": [{"title": fact[0], "facts": [fact]} for fact in GOLD],
}
DOCUMENTS = [{"title": title, "text": text} for title, text in TEXTS.items()]
CONFIG = tomllib.loads(Path("evaluation_configs/t2rag.toml").read_text())
SYSTEMS: dict[str, Any] = {
    name: {"top_k": 2} for name in CONFIG["systems"] if name.startswith("t2rag")
}


async def asked(folder: Path, resolver: Any = read) -> dict[str, Row]:
    (folder / "q.jsonl").write_text(json.dumps(FILMS))
    small = {"format": "jsonl", "path": "q.jsonl"}
    config = parse_config({"benchmarks": {"small": small}, "systems": SYSTEMS}, folder)
    parts = world(
        resolver=ScriptedModel(resolver),
        extractor=MappingExtractor({}),
        retriever=ListRetriever(DOCUMENTS),
    )
    await evaluate(config, folder / "out", parts=Parts.of(**parts, defaults=T2Context()))
    asked = len(parts["resolver"].prompts)
    await evaluate(config, folder / "out", parts=Parts.of(**parts, defaults=T2Context()))
    assert len(parts["resolver"].prompts) == asked, "nothing was left to ask"
    files = (folder / "out" / "predictions" / "small").glob("*.jsonl")
    return {file.stem: ROW.validate_json(file.read_text()) for file in files}


async def test_resolved_runs_are_told_from_others(tmp_path: Path) -> None:
    rows = await asked(tmp_path)
    assert rows.keys() == SYSTEMS.keys()
    assert all(rows[name].right for name in SYSTEMS.keys() - {"t2rag_one_round"})
    whole, short = rows["t2rag"], rows["t2rag_one_round"]
    assert whole.right and whole.measures["resolved"] == 1
    assert whole.measures["clues_right"] == whole.measures["slots_right"] == 1
    assert whole.measures["passages"] == 4 and short.measures["resolved"] == 0
    report = (tmp_path / "out" / "report.md").read_text()
    assert "### Clues" in report and "weighted" in report


async def test_a_wrong_value_names_the_error(tmp_path: Path) -> None:
    rows = await asked(tmp_path, lambda view: read(view).replace("Aino Laine", "film"))
    assert rows["t2rag"].measures["slots_right"] < 1
    wrong = [row for row in rows.values() if not row.right]
    assert {row.error_class for row in wrong} <= {"resolution_wrong"}


async def test_passages_are_found_by_what_clues_say() -> None:
    retriever = ChunkRetriever(ListRetriever(DOCUMENTS))
    queries = [TripleQuery("Northern Light directed by"), TripleQuery("Per Holm born in")]
    found = await retriever.find(queries, 2)
    first = [one.passage["title"] for one in found.passages]
    assert first == ["Northern Light", "Per Holm"] and not found.triples
    skipped = frozenset(one.passage["id"] for one in found.passages)
    again = await retriever.find([TripleQuery("Northern Light directed by", skipped)], 1)
    assert again.passages and again.passages[0].passage["id"] not in skipped
