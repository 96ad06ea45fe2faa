"""FEVER: claims to be judged true or false, with the instruction of the task.

The evidence sentences become triples by rules; all of a claim's evidence is one step, found by the
claim itself. When it is not found, what is left to ask for is the claim's subject. Claims with NOT
ENOUGH INFO are never sufficient and have no answer. FEVER's own files name evidence by page and
sentence number only; give a file that holds the sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import untokenize
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.text import scrub
from ras_flow.settings.tasks import TASKS
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.sources.texts import Texts, mentions
from recipes.graph_llm.wording import about

_ANSWERS = {"SUPPORTS": "true", "REFUTES": "false", "NOT ENOUGH INFO": ""}
_LINKING = {"of", "the", "and", "in", "de", "for", "to", "a", "at", "on", "&"}
_VERBS = {"is", "was", "are", "were", "has", "had", "did", "does", "can", "will"}


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each claim whose evidence became triples, and for those without any."""
    for row in rows:
        claim, label = row.text("claim"), row.text("label")
        if label not in _ANSWERS:
            row.fail("label", f"expected one of {', '.join(_ANSWERS)}")
        subject = _subject(claim)
        phrasings = (about(subject),) if subject else ()
        if label == "NOT ENOUGH INFO":
            step = Step(phrasings, (), Page(subject, ()), missing=True)
        else:
            found = [_triples(text, subject, texts) for text in _evidence(row)]
            facts = tuple(dict.fromkeys(fact for page in found for fact in page))
            if not found or not all(found):
                continue
            step = Step(phrasings, facts, Page(subject, facts))
        if not phrasings and step.missing:
            continue
        yield Case(
            source="fever",
            id=row.text("id"),
            question=claim,
            answer=_ANSWERS[label],
            steps=(step,),
            instruction=TASKS["fact_check"].instruction,
        )


def _evidence(row: Row) -> list[str]:
    """Return the evidence sentences: texts, or lists that end in a text."""
    found: list[str] = []
    for at, item in enumerate(row.items("evidence")):
        match item:
            case str(text) | [*_, str(text)] if len(text.split()) > 1:
                found.append(scrub(text))
            case _:
                row.fail(
                    f"evidence[{at}]",
                    "expected a sentence; FEVER's own files only number them, use one with texts",
                )
    return found


def _triples(text: str, subject: str, texts: Texts) -> tuple[tuple[str, str, str], ...]:
    """Read a sentence; a pronoun at its beginning is the claim's subject."""
    sentence = untokenize(text)
    pronoun = re.match(r"(he|she|it|they|his|her|its|their)\b", sentence, re.I)
    return texts.page(subject if pronoun else "", [sentence]).triples


def _subject(claim: str) -> str:
    """Return the name that a claim starts with; empty if it starts with none."""
    words = claim.rstrip(".").split()
    name: list[str] = []
    for word in words:
        if word.lower() in _VERBS or not (
            word[:1].isupper() or word.lower() in _LINKING or word[:1] in "(\"'0123456789"
        ):
            break
        name.append(word)
    while name and name[-1].lower() in _LINKING:
        name.pop()
    text = " ".join(name).partition(" (")[0].rstrip(",")
    text = re.sub(r"'s$", "", text)
    return text if len(normalize_name(text)) > 2 and mentions(claim, text) else ""
