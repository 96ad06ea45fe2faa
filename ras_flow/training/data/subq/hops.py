"""From the documents of a question to records: what is seen after each hop, and the right plan.

The chain is made by the graph's own functions, so that training sees what inference sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.state.kg import by_hop, merge_triples, to_new_triples, triple_id
from ras_flow.state.schema import Extracted, Hop, Triple
from ras_flow.training.data.records import Link, Record, Target
from ras_flow.training.splits import Split

SOURCE = "hotpotqa-subq"


@dataclass(frozen=True)
class Document:
    """A document with its triples."""

    title: str
    triples: tuple[Spo, ...]


@dataclass(frozen=True)
class Asked:
    """A question: its name among all, its text, gold answer and split."""

    id: str
    question: str
    answer: str
    split: Split

    def record(
        self,
        run: str,
        task: Literal["plan", "answer"],
        chain: list[Link],
        target: Target,
        page: str = "",
    ) -> Record:
        """Return a record of this question."""
        name = f"plan-{len(chain)}" if task == "plan" else "answer"
        record: Record = {
            "id": f"{SOURCE}/{self.id}/{run}/{name}",
            "source": SOURCE,
            "split": self.split,
            "task": task,
            "question": self.question.strip(),
            "chain": chain,
            "target": target,
        }
        if page:
            record["page"] = page
        return record


def known_records(asked: Asked) -> list[Record]:
    """Return the records of a question that a base model answers without retrieval."""
    return [
        asked.record("direct", "plan", [], {"label": "NO_RETRIEVAL"}),
        asked.record("direct", "answer", [], {"answer": asked.answer}),
    ]


def hop_records(
    asked: Asked,
    needed: Sequence[Document],
    subqueries: Sequence[str],
    others: Sequence[Document],
    *,
    distractors: int,
    seed: int,
) -> Iterator[Record]:
    """Yield the plan before each hop, which finds a needed document and others, and the answer."""
    rng = Random(f"{seed}\0{asked.question}")
    around = [one for one in others if one.triples and not _tells(one, needed)]
    rng.shuffle(around)
    subquery, at = " ".join(asked.question.split()), 0
    yield asked.record("first", "plan", [], {"label": "SUBQ", "subquery": subquery})
    hops: list[Hop] = []
    graph: dict[str, Triple] = {}
    while True:
        found = [needed[at], *around[:distractors]]
        around = around[distractors:]
        rng.shuffle(found)
        titles = [document.title for document in found]
        hops.append(Hop(index=len(hops), subquery=subquery, passages=titles, scores=[]))
        extracted = [
            Extracted(passage=one.title, triples=[list(triple) for triple in one.triples])
            for one in found
        ]
        graph = merge_triples(graph, dict(to_new_triples(extracted)))
        chain = _chain(graph, hops)
        missing = [
            number
            for number, document in enumerate(needed)
            if not all(triple_id(*triple) in graph for triple in document.triples)
        ]
        if not missing:
            break
        subquery, at = subqueries[missing[0]], missing[0]
        target: Target = {"label": "SUBQ", "subquery": subquery}
        yield asked.record("0", "plan", chain, target, page=needed[at].title)
    yield asked.record("0", "plan", chain, {"label": "SUFFICIENT"})
    yield asked.record("0", "answer", chain, {"answer": _spelled(asked.answer, needed)})


def _chain(graph: dict[str, Triple], hops: Sequence[Hop]) -> list[Link]:
    return [
        Link(
            subquery=hop["subquery"],
            triples=[
                [graph[id]["subject"], graph[id]["predicate"], graph[id]["object"]] for id in ids
            ],
        )
        for hop, ids in zip(hops, by_hop(graph, hops), strict=True)
    ]


def _tells(document: Document, needed: Sequence[Document]) -> bool:
    """Tell whether a document has the subject and object of a fact that is to be found."""
    words = _words(*(part for triple in document.triples for part in triple))
    return any(_words(s, o) <= words for one in needed for s, _, o in one.triples)


def _words(*texts: str) -> set[str]:
    return set(normalize_name(" ".join(texts)).split())


def _spelled(answer: str, needed: Sequence[Document]) -> str:
    """Return the answer as the graph spells it, so that copying it is right."""
    wanted = normalize_name(answer)
    for document in reversed(needed):
        for subject, _, object in document.triples:
            for name in (object, subject):
                if normalize_name(name) == wanted:
                    return name
    return answer
