"""Why an answer is wrong, decided from gold support (after appendix H, and T²RAG's B.9).

The classes follow a run from its search to its answer, and the first thing that went wrong names
it; what comes later had no chance. Where the gold support is not known, the gold answer is looked
for instead: a name or a number can be found in passages and triples, "yes" or a paragraph cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ras_flow.datasets.facts import MOST_WORDS, holds
from ras_flow.evaluation.clues import ClueEvidence
from ras_flow.evaluation.metrics.steps import is_found
from ras_flow.evaluation.question import Question, Support
from ras_flow.formats.normalize import has_any_name, has_name, normalize_name, token_f1
from ras_flow.formats.triples import Spo
from ras_flow.state.kg import spo_of
from ras_flow.state.schema import Passage, Triple

ABOUT = {
    "failed": "The run failed before it answered.",
    "from_memory": "The system searches for nothing, and did not know the answer.",
    "decomposition_wrong": "No clue asks for what was needed.",
    "resolution_wrong": "A slot got a value that no gold fact names, or a clue stayed open whose "
    "passage was found.",
    "stopped_early": "The planner ended the search before it had asked for all that was needed.",
    "wandered": "The planner used up its limits without asking for all that was needed.",
    "retrieval_missed": "The retriever did not find what was asked for; for a system that does not "
    "plan, or that has a graph of its own, whatever is missing.",
    "extraction_missed": "The passage was found, but what it says is not in the graph.",
    "not_read": "It is in the graph, but not among the triples that the answerer was given.",
    "ungrounded": "A slot got a value that nothing which was read states.",
    "answerer_wrong": "All that was needed was there, and the answer is wrong all the same.",
    "invented": "What was searched does not hold the answer, and the answer does not say so.",
    "undecided": "The question names no gold support, and texts cannot be searched for its answer.",
}
"""The classes in the order in which a report lists them, and what each means."""

ALIKE = 0.5
"""Token F1 from which a search is taken to ask a gold subquery."""

_VERDICTS = frozenset({"yes", "no", "true", "false", "it supports it", "it counters it"})


@dataclass(frozen=True)
class Evidence:
    """What a run had found when it answered.

    Attributes:
        searches: What it searched for, in order.
        triples: Its graph; None for systems that read passages alone.
        cut_short: Whether a limit stopped it.
        plans: Whether the system decides by itself what to search for, and when to stop.
        may_search: Whether it can search; one that cannot may have triples of its own graph.
        error: Why it failed; empty if it did not.
        read: What the answerer read of the graph; None for all of it.
        texts: The passages that it read as text beside the graph.
        clues: How far its clues came; None for systems without clues.
    """

    searches: Sequence[str] = ()
    passages: Sequence[Passage] = ()
    triples: Mapping[str, Triple] | None = None
    stop_reason: str | None = None
    cut_short: bool = False
    plans: bool = True
    may_search: bool = True
    error: str = ""
    read: Mapping[str, Triple] | None = None
    texts: Sequence[Passage] = ()
    clues: ClueEvidence | None = None


@dataclass(frozen=True)
class ErrorFinding:
    """A class, and in a sentence what it was decided from."""

    kind: str
    why: str


def classify(question: Question, evidence: Evidence) -> ErrorFinding:
    """Say why an answer is wrong."""
    if evidence.error:
        return ErrorFinding("failed", evidence.error)
    if not question.answerable:
        return ErrorFinding("invented", "What was searched does not hold the answer.")
    if not evidence.may_search:
        if evidence.triples:
            return _given_graphs(question, evidence)
        return ErrorFinding("from_memory", "The system does not search.")
    support = [one for one in question.support if one.title or one.text]
    if support:
        asked, never = _missing(support, evidence)
        if evidence.clues and (found := _clues_way(evidence.clues, asked, never)):
            return found
        if never and evidence.plans:
            return _planners(list(never), evidence)
        if lost := asked | never:
            return ErrorFinding("retrieval_missed", f"Not found: {'; '.join(lost)}.")
        return _graphs(question, support, evidence)
    return _by_answer(question, evidence)


def _clues_way(
    clues: ClueEvidence, asked: Mapping[str, None], never: Mapping[str, None]
) -> ErrorFinding | None:
    """Follow clues from the decomposition to what filled them."""
    if clues.wrong:
        return ErrorFinding("resolution_wrong", f"No gold fact names {'; '.join(clues.wrong)}.")
    if never:
        return ErrorFinding("decomposition_wrong", f"No clue asks for {'; '.join(never)}.")
    if not asked and clues.open:
        return ErrorFinding("resolution_wrong", f"Left open: {'; '.join(clues.open)}.")
    if not asked and clues.ungrounded:
        return ErrorFinding("ungrounded", f"Nothing states {'; '.join(clues.ungrounded)}.")
    return None


def _missing(
    support: Sequence[Support], evidence: Evidence
) -> tuple[dict[str, None], dict[str, None]]:
    """Return names of gold support that was not found: what was asked for, and what was not."""
    asked: dict[str, None] = {}
    never: dict[str, None] = {}
    for one in support:
        if any(_has(passage, one) for passage in evidence.passages):
            continue
        names = asked if _asked_for(one, support, evidence.searches) else never
        names[one.title or one.text] = None
    return asked, never


def _asked_for(one: Support, support: Sequence[Support], searches: Sequence[str]) -> bool:
    """Tell whether a search names the document, or asks the gold subquery.

    Subqueries of one question may be worded alike, so a search counts only for those that it is
    most like. For a bare text, which has neither title nor subquery, any search counts.
    """
    if not one.title and not one.subquery:
        return bool(searches)
    for search in searches:
        if has_name(search, one.title):
            return True
        alike = {step.subquery: token_f1(search, step.subquery) for step in support}
        if one.subquery and alike[one.subquery] >= max(ALIKE, *alike.values()):
            return True
    return False


def _has(passage: Passage, support: Support) -> bool:
    """Tell whether a passage is the support: of its document, and with its text where known."""
    if support.title and not is_found(support, [passage]):
        return False
    return not support.text or is_found(support, [passage], "text")


def _planners(never: Sequence[str], evidence: Evidence) -> ErrorFinding:
    what = f"Never asked for: {'; '.join(never)}."
    if evidence.cut_short:
        return ErrorFinding("wandered", f"{what} Stopped by {evidence.stop_reason}.")
    if evidence.stop_reason == "static":
        return ErrorFinding("retrieval_missed", f"Not among the given documents: {what}")
    return ErrorFinding("stopped_early", f"{what} Stopped as {evidence.stop_reason}.")


def _graphs(question: Question, support: Sequence[Support], evidence: Evidence) -> ErrorFinding:
    """Decide between extraction, reading and answer, where all passages are there."""
    if evidence.triples is None:
        return ErrorFinding("answerer_wrong", "All gold passages were in view.")
    support = [one for one in support if not any(_has(passage, one) for passage in evidence.texts)]
    if not support:
        return ErrorFinding("answerer_wrong", "All gold passages were read as text.")
    read = evidence.triples if evidence.read is None else evidence.read
    facts = [fact for one in support for fact in one.facts]
    if lost := _not_held(facts, evidence.triples):
        return ErrorFinding("extraction_missed", f"Not in the graph: {lost}.")
    if unread := _not_held(facts, read):
        return ErrorFinding("not_read", f"In the graph, but not read: {unread}.")
    if facts:
        return ErrorFinding("answerer_wrong", "All gold facts were read.")
    sources = {id for triple in evidence.triples.values() for id in triple["passages"]}
    for one in support:
        passages = [passage for passage in evidence.passages if _has(passage, one)]
        if not any(passage["id"] in sources for passage in passages):
            name = one.title or one.text
            return ErrorFinding("extraction_missed", f"No triple from: {name}.")
    said = "All gold passages had triples in the graph."
    return _answers_way(_names(question), evidence) or ErrorFinding("answerer_wrong", said)


def _given_graphs(question: Question, evidence: Evidence) -> ErrorFinding:
    """Decide for a system that took its triples from a graph of its own, not from passages."""
    facts = [fact for one in question.support for fact in one.facts]
    if not facts:
        return _by_answer(question, evidence)
    if lost := _not_held(facts, evidence.triples or {}):
        return ErrorFinding("retrieval_missed", f"Not among its triples: {lost}.")
    return ErrorFinding("answerer_wrong", "All gold facts were among its triples.")


def _not_held(facts: Sequence[Spo], triples: Mapping[str, Triple]) -> str:
    """Return the facts that triples do not hold, written out."""
    spo = list(map(spo_of, triples.values()))
    return "; ".join(" | ".join(fact) for fact in facts if not holds(spo, fact))


def _by_answer(question: Question, evidence: Evidence) -> ErrorFinding:
    """Decide by the gold answer where no support is known."""
    answers = _names(question)
    if not answers:
        said = "The question names no support, and texts cannot be searched for its answer."
        return ErrorFinding("undecided", said)
    if found := _answers_way(answers, evidence):
        return found
    if evidence.plans and evidence.stop_reason in ("sufficient", "no_retrieval"):
        said = f"Stopped as {evidence.stop_reason} though nothing found has {answers[0]!r}."
        return ErrorFinding("stopped_early", said)
    return ErrorFinding("retrieval_missed", f"Nothing found has {answers[0]!r}.")


def _answers_way(answers: Sequence[str], evidence: Evidence) -> ErrorFinding | None:
    """Follow the gold answer from passages to what was read; None where no passage has it."""
    texts = evidence.passages if evidence.triples is None else evidence.texts
    if any(_in_text(answers, passage) for passage in texts):
        return ErrorFinding("answerer_wrong", f"{answers[0]!r} is in a passage that was read.")
    if evidence.triples and _in_triples(answers, evidence.triples):
        if evidence.read is not None and not _in_triples(answers, evidence.read):
            return ErrorFinding("not_read", f"{answers[0]!r} is in the graph, but was not read.")
        return ErrorFinding("answerer_wrong", f"{answers[0]!r} is in the graph.")
    if any(_in_text(answers, passage) for passage in evidence.passages):
        said = f"{answers[0]!r} is in a passage, not in the graph."
        return ErrorFinding("extraction_missed", said)
    return None


def _names(question: Question) -> list[str]:
    """Return the gold answers that can be looked for in a text."""
    answers = [*question.answers, *(one for group in question.answer_sets for one in group)]
    if question.options:
        answers = [one for one in answers if one not in question.options]
    names = [(one, normalize_name(one)) for one in answers if one.strip()]
    return [one for one, name in names if name not in _VERDICTS and len(name.split()) <= MOST_WORDS]


def _in_triples(answers: Sequence[str], triples: Mapping[str, Triple]) -> bool:
    texts = [f"{t['subject']} | {t['predicate']} | {t['object']}" for t in triples.values()]
    return any(has_any_name(text, answers) for text in texts)


def _in_text(answers: Sequence[str], passage: Passage) -> bool:
    return has_any_name(f"{passage['title']} {passage['text']}", answers)
