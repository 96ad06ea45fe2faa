"""QED (Lamm et al., 2021) on Natural Questions: one paragraph, one question: a single hop.

Questions whose answer is a list are left out, since each part of it alone would pass for right, and
the few whose answer is blank.
"""

from __future__ import annotations

from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import untokenize
from ras_flow.evaluation.benchmarks.form import SHORT_ANSWER, Form
from ras_flow.evaluation.question import Question, Support


def read(row: Row) -> Question | None:
    """Read a question."""
    answers = set(filter(None, row.texts("answers")))
    if len(answers) != 1:
        return None
    title, text = row.text("title"), untokenize(row.text("paragraph"))
    return Question(
        id=row.text("id"),
        question=row.text("question"),
        answers=(untokenize(answers.pop()),),
        documents=({"title": title, "text": text},),
        support=(Support(title, text),),
    )


FORMS = {"qed": Form("short_qa", SHORT_ANSWER, read)}
