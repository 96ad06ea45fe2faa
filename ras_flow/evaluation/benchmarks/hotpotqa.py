"""HotpotQA (Yang et al., 2018): two hops over Wikipedia, with supporting sentences.

Two forms: the authors' JSON (``context``, ``supporting_facts``) and the shared one (``docs``,
``support``; or neither, only question and answer). Its own F1 gives no part of a point for "yes",
"no" and "noanswer".
"""

from __future__ import annotations

from ras_flow.datasets.contexts import as_documents, documents, said, support
from ras_flow.datasets.reading import Row
from ras_flow.evaluation.benchmarks.form import Form, optional_text
from ras_flow.evaluation.question import Question, Support


def read(row: Row) -> Question:
    """Read a question."""
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


FORMS = {"hotpotqa": Form("short_qa", ("hotpotqa_f1", "exact_match", "match"), read)}
