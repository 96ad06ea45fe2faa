"""Whether the documents support an answer, judged by what was found, without a model.

A chain of facts and sentences leads from the answer back to what the question names
(`measuring.py`); a yes, a no or one of the things compared rests on what was found of each of them
(`comparing.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ras_flow.formats.answer import UNKNOWN_ANSWER, says_unknown
from ras_flow.formats.sentences import sentence_spans
from ras_flow.formats.text import has_word
from ras_flow.state.asking import Question
from ras_flow.state.chains import Measured
from ras_flow.state.evidence import ENDS, Evidence, Reader, Unit
from ras_flow.state.measuring import measure, measure_long, measure_own
from ras_flow.state.schema import Citation, Passage, Triple

SUPPORTED = 0.45
"""From this score on the documents support an answer."""

UNKNOWN = 0.2
"""Below this score a run says that the documents do not say, where it may."""

VERIFIED = 0.5
"""Share of an answer's words that the facts and passages cited by the model must state."""

EXPLAINED = 0.7
"""Share of an explanation's words that the passages closest to it must state."""

MAX_CITATIONS = 8

NOT_FOUND = "The run found no answer."
"""Why an answer is not supported that says so itself."""

_LONGEST = 40
"""Words without an end of a sentence at most: beyond, a table or a list was copied."""


class Verdict(NamedTuple):
    """What an answer rests on.

    Attributes:
        citations: The facts and passages that lead from the question to the answer.
        supported: Whether they support it.
        support: Why, or why not: a short sentence.
        score: How well, from 0 to 1.
    """

    citations: list[Citation]
    supported: bool
    support: str
    score: float


def judge(
    answer: str, question: str, triples: Mapping[str, Triple], passages: Mapping[str, Passage]
) -> Verdict:
    """Find what supports an answer in all that a run found."""
    if problem := _problem(answer, triples, passages):
        return Verdict([], False, problem, 0.0)
    evidence = Evidence(triples, passages)
    asked = Question(question)
    verdict = _verdict(measure(answer, asked, evidence), evidence, SUPPORTED)
    if verdict.supported:
        return verdict
    explained = _verdict(measure_long(answer, asked, evidence), evidence, EXPLAINED)
    return explained if explained.supported else verdict


def admit(answer: str, verdict: Verdict, *, told_to: bool) -> tuple[str, Verdict]:
    """Let a run say that the documents do not say, and keep the model's guess in ``support``.

    A model that was ``told_to`` say so decides itself. For one that takes no such instruction its
    score decides.
    """
    unknown = says_unknown(answer)
    if not unknown and (told_to or verdict.score >= UNKNOWN):
        return answer, verdict
    wrote = f' The model wrote "{answer}".' if answer not in ("", UNKNOWN_ANSWER) else ""
    return UNKNOWN_ANSWER, Verdict([], False, f"{verdict.support}{wrote}", verdict.score)


def verify(
    answer: str,
    question: str,
    triples: Mapping[str, Triple],
    passages: Mapping[str, Passage],
    *,
    cited: Collection[str],
) -> Verdict:
    """Check the facts and passages that a model itself names for its answer.

    For a model that cites by number: turn its numbers into ids of triples and passages, and give
    them as ``cited``, with all triples and passages of the run; triples that a cited passage states
    are cited with it. What it names need not share names to belong together, but has to state the
    answer and to speak of what was asked; what does neither is not cited. Where that fails, as
    where it names nothing, its answer is judged as any other's is, by all that was found.
    """
    own = {id: one for id, one in triples.items() if not {id, *one["passages"]}.isdisjoint(cited)}
    texts = {id: passages[id] for id in cited if id in passages}
    if not _problem(answer, own, texts):
        stated_in = {
            id: passages[id] for t in own.values() for id in t["passages"] if id in passages
        }
        evidence = Evidence(own, {**stated_in, **texts})
        units = [unit for unit in evidence.units if unit.triple or unit.passage in texts]
        measured = measure_own(answer, Question(question), units, evidence)
        verdict = _verdict(measured, evidence, VERIFIED)
        if verdict.supported:
            return verdict
    return judge(answer, question, triples, passages)


def led_by(
    facts: Sequence[str],
    verdict: Verdict,
    triples: Mapping[str, Triple],
    passages: Mapping[str, Passage],
) -> Verdict:
    """Cite the facts that led a run to its answer before what else supports it."""
    reader = Reader(passages)
    led = [reader.cite(id, triples[id]) for id in facts if id in triples]
    others = [one for one in verdict.citations if one["triple"] not in facts]
    return verdict._replace(citations=[*led, *others][:MAX_CITATIONS])


def _problem(answer: str, triples: Collection[str], passages: Collection[str]) -> str:
    """Say why an answer need not be looked for; empty if it has to be."""
    if not has_word(answer):
        return "There is no answer."
    if says_unknown(answer):
        return NOT_FOUND
    if not triples and not passages:
        return "No document was read: the answer is what the model knows by itself."
    spoken = (answer[start:end] for start, end in sentence_spans(answer))
    rows = (text for text in spoken if not text.endswith(ENDS))
    if any(len(text.split()) > _LONGEST for text in rows) or answer.count("|") > 1:
        return "It copies a table or a list in place of an answer."
    return ""


def _cited(units: Sequence[Unit], evidence: Evidence) -> list[Unit]:
    """Return what is cited of a chain: no sentence beside the fact that it states."""
    facts = [unit for unit in units if unit.triple]
    cited = {
        (unit.triple, unit.passage, unit.sentence): unit
        for unit in units
        if unit.triple or not any(evidence.states(unit, fact) for fact in facts)
    }
    return list(cited.values())[:MAX_CITATIONS]


def _verdict(measured: Measured, evidence: Evidence, threshold: float) -> Verdict:
    supported = measured.score >= threshold
    why = "What is cited leads from the question to the answer."
    if not supported:
        why = measured.why or "Too little of what was found speaks of the question."
    citations = [evidence.cite(unit) for unit in _cited(measured.units, evidence)]
    return Verdict(citations, supported, why, round(measured.score, 3))
