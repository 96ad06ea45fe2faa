"""What an answer rests on that names its passages itself: their facts, and their sentences."""

from __future__ import annotations

from collections.abc import Mapping

from ras_flow.formats.normalize import name_words
from ras_flow.state.citations import cite_facts, cite_passage, paths_to_answer
from ras_flow.state.evidence import find_evidence
from ras_flow.state.kg import QueryKG
from ras_flow.state.schema import Citation, Passage, Step, Triple
from ras_flow.state.support import Verdict, judge

_NOT_FOUND = "The model found no answer in the documents."
_NAMED = "The model names the passages that it rests on, and they hold what is cited."


def judge_cited(
    step: Step, question: str, triples: Mapping[str, Triple], passages: Mapping[str, Passage]
) -> Verdict:
    """Say what an answer rests on by the passages that it names; by its words where it names none.

    What comes nearest to an answer has its passages too, but is not supported by them.
    """
    named = [id for id in step["cites"] if id in passages]
    citations = cite_named(step["answer"], question, named, triples, passages)
    if step["label"] != "ANSWER":
        return Verdict(citations, False, _NOT_FOUND)
    if not named:
        return judge(step["answer"], question, triples, passages)
    return Verdict(citations, True, _NAMED)


def cite_named(
    answer: str,
    question: str,
    named: list[str],
    triples: Mapping[str, Triple],
    passages: Mapping[str, Passage],
) -> list[Citation]:
    """Cite passages that an answer names, by the facts that were noted from them.

    These are the facts on the way from the question to the answer. A passage without one is cited
    by the fact that shares most words with both; one of which nothing was noted, by a sentence.
    """
    noted = {id: one for id, one in triples.items() if not set(named).isdisjoint(one["passages"])}
    kg = QueryKG.from_triples(noted)
    paths = paths_to_answer(answer, question, kg)
    chosen = dict.fromkeys(id for path in paths.values() for id in path)
    words = set(name_words(f"{question} {answer}"))
    bare = []
    for passage in named:
        own = [id for id, triple in noted.items() if passage in triple["passages"]]
        if not own:
            bare.append(passage)
        elif chosen.keys().isdisjoint(own):
            chosen[max(own, key=lambda id: len(words & set(_words(noted[id]))))] = None
    facts = cite_facts({id: noted[id] for id in chosen}, passages)
    texts = [cite_passage(passages[id], _sentence(question, answer, passages[id])) for id in bare]
    return [*facts, *texts]


def _words(triple: Triple) -> tuple[str, ...]:
    return name_words(f"{triple['subject']} {triple['predicate']} {triple['object']}")


def _sentence(question: str, answer: str, passage: Passage) -> str:
    """Return the sentence of a passage that shares most words with question and answer."""
    asked = Triple(subject=question, predicate="", object=answer, passages=[passage["id"]])
    found = find_evidence({"": asked}, {passage["id"]: passage}).get("", {})
    return passage["text"][slice(*found[passage["id"]])] if found else ""
