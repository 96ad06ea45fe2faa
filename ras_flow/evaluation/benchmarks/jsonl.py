"""Your own questions, one JSON object a line; the demo questions have this form too.

::

    {"id": "1", "question": "...", "answers": ["Vistula", "Wisła"], "type": "two-hop",
     "documents": [{"title": "Warsaw", "text": "..."}],
     "support": [{"title": "Warsaw", "text": "...", "subquery": "...",
                  "facts": [["Warsaw", "located on", "Vistula"]]}]}

Only the question and its answers (or one ``answer``) have to be there. An item of ``documents`` may
be a text, and one of ``support`` a title; then ``subqueries``, one for each, may say what is asked
for. A row with ``"answers": []`` asks what the documents do not say.
"""

from __future__ import annotations

from ras_flow.datasets.reading import Row
from ras_flow.evaluation.benchmarks.form import SHORT_ANSWER, Form, optional_text, some_texts
from ras_flow.evaluation.question import Question, Support
from ras_flow.state.schema import Document


def read(row: Row) -> Question:
    """Read a question."""
    answerable = row.value.get("answers") != []
    return Question(
        id=optional_text(row, "id"),
        question=row.text("question"),
        answers=_answers(row) if answerable else (),
        documents=_documents(row) if row.has("documents") else (),
        support=_support(row) if answerable and row.has("support") else (),
        kind=optional_text(row, "type", "kind"),
        answerable=answerable,
    )


def _answers(row: Row) -> tuple[str, ...]:
    one = not row.has("answers") and row.has("answer")
    return (row.text("answer"),) if one else some_texts(row, "answers")


def _documents(row: Row) -> tuple[Document, ...]:
    found: list[Document] = []
    for at, item in enumerate(row.items("documents")):
        value = {"text": item} if isinstance(item, str) else item
        document = Row(value, f"{row.where}:documents[{at}]")
        found.append({"title": optional_text(document, "title"), "text": document.text("text")})
    return tuple(found)


def _support(row: Row) -> tuple[Support, ...]:
    items = row.items("support")
    asked = row.texts("subqueries") if row.has("subqueries") else [""] * len(items)
    if len(asked) != len(items):
        row.fail("subqueries", f"expected one for each of the {len(items)} in support")
    found = []
    for at, (item, subquery) in enumerate(zip(items, asked, strict=True)):
        value = {"title": item} if isinstance(item, str) else item
        part = Row(value, f"{row.where}:support[{at}]")
        if not part.has("text") and not part.has("subquery"):
            part.text("title")
        found.append(
            Support(
                title=optional_text(part, "title"),
                text=optional_text(part, "text"),
                subquery=optional_text(part, "subquery") or subquery,
                facts=tuple(part.triples("facts")) if part.has("facts") else (),
            )
        )
    return tuple(found)


FORMS = {"jsonl": Form("short_qa", SHORT_ANSWER, read)}
