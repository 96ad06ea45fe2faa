"""Questions over several documents: HotpotQA, 2WikiMultihopQA, MuSiQue, StrategyQA.

Each is read in two forms: the authors' own, and the shared one with ``docs`` (or without documents)
that names fields alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ras_flow.datasets.contexts import (
    as_documents,
    documents,
    paragraph_of_step,
    paragraphs,
    said,
    support,
    title_of_step,
    titles_of_paragraphs,
)
from ras_flow.datasets.reading import Row, read_rows
from ras_flow.datasets.wording import fill, references
from ras_flow.evaluation.benchmarks.form import SHORT_ANSWER, Form, distinct, optional_text
from ras_flow.evaluation.question import Question, Support
from ras_flow.formats.normalize import normalize_name


def read_hotpotqa(row: Row) -> Question:
    """Read a question of HotpotQA (Yang et al., 2018), whose own F1 takes verdicts as a whole."""
    given = documents(row) if row.has("docs") or row.has("context") else []
    texts = dict(given)
    gold = support(row) if row.has("support") or row.has("supporting_facts") else {}
    return Question(
        id=optional_text(row, "id", "_id", "idx"),
        question=row.text("question"),
        answers=(row.text("answer"),),
        documents=as_documents(given),
        support=tuple(
            Support(title, sentence)
            for title, numbers in gold.items()
            for sentence in said(texts.get(title, []), numbers)
        ),
        kind=optional_text(row, "type", "qtype"),
    )


def read_2wiki(row: Row) -> Question:
    """Read a question of 2WikiMultihopQA (Ho et al., 2020), which has evidence triples."""
    given = documents(row) if row.has("docs") or row.has("context") else []
    return Question(
        id=optional_text(row, "id", "_id"),
        question=row.text("question"),
        answers=_answers(row),
        documents=as_documents(given),
        support=tuple(_evidence(row, dict(given))),
        kind=optional_text(row, "type", "qtype"),
    )


def rows_of_2wiki(path: Path) -> Iterator[Row]:
    """Yield rows with their answers' names in ``id_aliases.json``, as 2Wiki evaluates them."""
    beside = path.with_name("id_aliases.json")
    named = {
        row.text("Q_id"): [*row.texts("aliases"), *row.texts("demonyms")]
        for row in (read_rows(beside) if beside.is_file() else ())
    }
    for row in read_rows(path):
        others = named.get(row.value.get("answer_id", ""))
        yield Row({**row.value, "answer_aliases": others}, row.where) if others else row


def _answers(row: Row) -> tuple[str, ...]:
    field = "aliases" if row.has("aliases") else "answer_aliases"
    aliases = row.texts(field) if row.has(field) else []
    return distinct([row.text("answer"), *aliases])


def _evidence(row: Row, given: dict[str, list[str]]) -> Iterator[Support]:
    """Yield the supporting sentences; a title's triples stand with the first of its own.

    A triple belongs to the title at its place in the list where there are as many of one as of the
    other, else to the title that its subject names.
    """
    titles = support(row)
    facts = row.triples("triples" if row.has("triples") else "evidences")
    asked = [step.text("q") for step in row.rows("decomp")] if row.has("decomp") else []
    for at, (title, numbers) in enumerate(titles.items()):
        first, *more = said(given.get(title, []), numbers)
        subquery = asked[at] if len(asked) == len(titles) else ""
        own = [fact for fact in facts if _names(title, fact[0])]
        own = [facts[at]] if len(facts) == len(titles) else own
        yield Support(title, first, subquery, tuple(own))
        yield from (Support(title, sentence) for sentence in more)


def _names(title: str, subject: str) -> bool:
    """Tell whether a title is its subject's, with or without a "(1950 film)" behind it."""
    bare = title.partition(" (")[0]
    return normalize_name(subject) in (normalize_name(title), normalize_name(bare))


def read_musique(row: Row) -> Question:
    """Read a question of MuSiQue (Trivedi et al., 2022); the results of steps are filled in.

    One that its documents do not answer (``answerable`` false) has its answerable twin's id.
    """
    answerable = not row.has("answerable") or row.flag("answerable")
    id = row.text("id")
    given = paragraphs(row)
    return Question(
        id=id if answerable else f"{id}-unanswerable",
        question=row.text("question"),
        answers=_answers(row),
        documents=tuple({"title": title, "text": text} for title, text in given),
        support=tuple(_steps(row, given)) if answerable else (),
        answerable=answerable,
        kind=id[:4] if "__" in id else "",  # "3hop1__…" and "3hop2__…" are of three hops
    )


def _steps(row: Row, given: list[tuple[str, str]]) -> Iterator[Support]:
    steps = row.rows("decomp" if row.has("decomp") else "question_decomposition")
    results = {at: step.first_text("a", "answer") for at, step in enumerate(steps)}
    for step in steps:
        place = paragraph_of_step(step)
        title, text = title_of_step(step), ""
        if place is not None and 0 <= place < len(given):
            title, text = given[place]
        yield Support(title, text, fill(step.first_text("q", "question"), results))


def read_strategyqa(row: Row) -> Question:
    """Read a question of StrategyQA (Geva et al., 2021), which does not say what to look up.

    The statements that an annotator reasoned from are its documents: those of all questions are a
    corpus of single sentences. There they are what it rests on; in another corpus, pages are.
    """
    return Question(
        id=row.first_text("qid", "id"),
        question=row.text("question"),
        answers=("yes" if row.flag("answer") else "no",),
        documents=tuple({"title": "", "text": fact} for fact in _facts(row)),
        support=tuple(_pages(row)),
    )


def _facts(row: Row) -> list[str]:
    return list(filter(None, row.texts("facts"))) if row.has("facts") else []


def _pages(row: Row) -> Iterator[Support]:
    """Yield statements, and the pages of each step by the first annotator who has all steps."""
    yield from (Support("", fact) for fact in _facts(row))
    steps = row.texts("decomposition") if row.has("decomposition") else []
    subqueries = ["" if references(step) else step for step in steps]
    if row.has("evidence_titles"):
        yield from (Support(title) for title in row.texts("evidence_titles"))
        yield from (Support("", subquery=subquery) for subquery in subqueries if subquery)
        return
    notes = row.items("evidence") if row.has("evidence") else []
    whole = (note for note in notes if isinstance(note, list) and len(note) == len(steps))
    for subquery, pages in zip(subqueries, next(whole, ()), strict=False):
        for title in dict.fromkeys(titles_of_paragraphs(pages)):
            yield Support(title, subquery=subquery)


FORMS = {
    "2wikimultihopqa": Form("short_qa", SHORT_ANSWER, read_2wiki, rows=rows_of_2wiki),
    "hotpotqa": Form("short_qa", ("hotpotqa_f1", "exact_match", "match"), read_hotpotqa),
    "musique": Form("short_qa", SHORT_ANSWER, read_musique),
    "strategyqa": Form("yes_no", ("verdict_accuracy",), read_strategyqa),
}
