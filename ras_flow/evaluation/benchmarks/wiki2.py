"""2WikiMultihopQA (Ho et al., 2020): two to four hops over Wikipedia, with evidence triples.

Two forms: the authors' JSON (``context``, ``supporting_facts``, ``evidences``) and the shared one
(``docs``, ``support``, ``triples``, and ``decomp`` for a human decomposition). A triple belongs to
the title at its place in the list where there are as many of one as of the other, else to the title
that its subject names; where several sentences of a title support, it stands with the first.
"""

from __future__ import annotations

from ras_flow.datasets.contexts import as_documents, documents, said, support
from ras_flow.datasets.reading import Row
from ras_flow.evaluation.benchmarks.form import SHORT_ANSWER, Form, optional_text
from ras_flow.evaluation.question import Question, Support
from ras_flow.formats.normalize import normalize_name


def read(row: Row) -> Question:
    """Read a question."""
    given = documents(row) if row.has("docs") or row.has("context") else []
    return Question(
        id=optional_text(row, "id", "_id"),
        question=row.text("question"),
        answers=(row.text("answer"),),
        documents=as_documents(given),
        support=_support(row, dict(given)),
        kind=optional_text(row, "type", "qtype"),
    )


def _support(row: Row, given: dict[str, list[str]]) -> tuple[Support, ...]:
    titles = support(row)
    facts = row.triples("triples" if row.has("triples") else "evidences")
    asked = [step.text("q") for step in row.rows("decomp")] if row.has("decomp") else []
    in_step = len(facts) == len(titles)
    found = []
    for at, (title, numbers) in enumerate(titles.items()):
        first, *more = said(given.get(title, []), numbers)
        subquery = asked[at] if len(asked) == len(titles) else ""
        own = (facts[at],) if in_step else tuple(f for f in facts if _names(title, f[0]))
        found.append(Support(title, first, subquery, own))
        found += [Support(title, sentence) for sentence in more]
    return tuple(found)


def _names(title: str, subject: str) -> bool:
    """Tell whether a title is its subject's, with or without a "(1950 film)" behind it."""
    bare = title.partition(" (")[0]
    return normalize_name(subject) in (normalize_name(title), normalize_name(bare))


FORMS = {"2wikimultihopqa": Form("short_qa", SHORT_ANSWER, read)}
