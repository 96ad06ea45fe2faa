"""Questions on knowledge graphs for ``ras-flow data supervise``, from three published data sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ras_flow.datasets.reading import Row, read_rows
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.state.names import Names, is_proper, longest
from ras_flow.support.files import write_whole

SETS = ("pathquestion", "webqsp", "2wiki")

Tails = dict[tuple[str, str], list[str]]
"""Objects by subject and relation."""

MIX = """\
seed = 13
{sets}"""
_SET = """
[[sets]]
name = "{name}"
questions = "{name}.jsonl"
{refiner}graphs = {{ {graphs} }}
"""


def convert_kg(data: Path, out: Path) -> dict[str, int]:
    """Write questions, graphs and a mix; return the questions of each set.

    Of PathQuestion only paths are kept that visit nothing twice. WebQSP's subgraphs, and the
    evidence of 2WikiMultihopQA, are pooled into a graph each; entities are what a question names.
    """
    out.mkdir(parents=True, exist_ok=True)
    counts, sets = {}, []
    for name in SETS:
        graphs: dict[str, dict[Spo, None]] = {}
        questions = list(_READERS[name](data, graphs))
        counts[name] = len(questions)
        _write_lines(out / f"{name}.jsonl", (json.dumps(q, ensure_ascii=False) for q in questions))
        for graph, facts in graphs.items():
            _write_lines(out / f"{name}.{graph}.tsv", map("\t".join, facts))
        paths = ", ".join(f'"{graph}" = "{name}.{graph}.tsv"' for graph in graphs)
        refiner = 'refiner = "none"\n' if name == "webqsp" else ""
        sets.append(_SET.format(name=name, graphs=paths, refiner=refiner))
    write_whole(out / "mix.toml", MIX.format(sets="".join(sets)))
    return counts


def _pathquestion(data: Path, graphs: dict[str, dict[Spo, None]]) -> Iterator[dict[str, Any]]:
    tails: dict[str, Tails] = {}
    for row in read_rows(data / "pathquestion_kb.jsonl.gz"):
        head, relation, tail = map(_spaced, row.texts("triple"))
        graphs.setdefault(row.text("kb"), {})[head, relation, tail] = None
        tails.setdefault(row.text("kb"), {}).setdefault((head, relation), []).append(tail)
    for row in read_rows(data / "pathquestion.jsonl.gz"):
        path = list(map(_spaced, row.texts("path")))
        answers = list(map(_spaced, row.texts("answers")))
        if len(set(path[::2])) == len(path[::2]):
            yield {
                "id": row.text("id"),
                "question": _spaced(row.text("question")),
                "graph": row.text("kb"),
                "entities": path[:1],
                "answers": answers,
                "gold": _grounded(tails[row.text("kb")], path, answers),
            }


def _grounded(tails: Tails, path: list[str], answers: list[str]) -> list[Spo]:
    """Return the facts by which a path's relations lead from its start to any answer."""
    layers: list[list[Spo]] = []
    ends = {path[0]}
    for relation in path[1::2]:
        layers.append(
            [(e, relation, tail) for e in sorted(ends) for tail in tails.get((e, relation), ())]
        )
        ends = {fact[2] for fact in layers[-1]}
    found: list[Spo] = []
    ends = {*answers, path[-1]}
    for layer in reversed(layers):
        kept = [fact for fact in layer if fact[2] in ends]
        found, ends = kept + found, {fact[0] for fact in kept}
    return list(dict.fromkeys(found))


def _webqsp(data: Path, graphs: dict[str, dict[Spo, None]]) -> Iterator[dict[str, Any]]:
    for row in read_rows(data / "webqsp_subgraph.jsonl.gz"):
        facts = row.triples("triples")
        graphs.setdefault("pooled", {}).update(dict.fromkeys(facts))
        yield from _asked(row, row.texts("answers"), facts)


def _wiki2(data: Path, graphs: dict[str, dict[Spo, None]]) -> Iterator[dict[str, Any]]:
    for row in read_rows(data / "2wiki_evidence.jsonl.gz"):
        facts = row.triples("triples")
        graphs.setdefault("pooled", {}).update(dict.fromkeys(facts))
        for question in _asked(row, [row.text("answer")], facts):
            yield question | {"gold": facts}


def _asked(row: Row, answers: list[str], facts: list[Spo]) -> Iterator[dict[str, Any]]:
    """Yield a question if it names entities of its facts."""
    names = {normalize_name(name): name for head, _, tail in facts for name in (head, tail)}
    within = longest(Names(names.values()).within(row.text("question")))
    entities = [names[one] for one in sorted(within) if one in names]
    entities = [one for one in entities if is_proper(one)] or entities
    if entities and all(answers) and answers:
        yield {
            "id": row.text("id"),
            "question": row.text("question"),
            "graph": "pooled",
            "entities": entities,
            "answers": answers,
        }


def _spaced(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    write_whole(path, "".join(f"{line}\n" for line in lines))


_READERS = {"pathquestion": _pathquestion, "webqsp": _webqsp, "2wiki": _wiki2}
