"""Facts of several numbered texts, asked for in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ras_flow.errors import ModelResponseError
from ras_flow.formats.hop_reply import read_facts
from ras_flow.formats.reply import spoken
from ras_flow.formats.stated import is_stated
from ras_flow.formats.triples import Spo, format_triples, parse_triples
from ras_flow.parts.prompted.forms import Form
from ras_flow.parts.prompted.prompting import ask
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Generation
from ras_flow.support.concurrency import all_or_none


@dataclass(frozen=True)
class Share(Generation):
    """What a call said of a text that is not its first, to which its cost goes."""


async def generate_together(
    model: LanguageModel, form: Form, texts: Sequence[str], stop: Sequence[str]
) -> list[Generation | ModelResponseError]:
    """Ask about texts at once; each alone if the model cannot read them or comes to its limit."""
    view = "\n".join(f"{number} {text}" for number, text in enumerate(texts, start=1))
    more: dict[str, Any] = {"schema": form.schema} if form.schema else {}
    most = form.max_new_tokens * len(texts)
    made = None
    try:
        [made] = await model.generate(
            [ask(form.prefix, view)], max_new_tokens=most, stop=stop, **more
        )
    except ModelResponseError as error:
        if len(texts) == 1:
            return [error]
    if made is None or (made.truncated and len(texts) > 1):
        alone = await all_or_none(generate_together(model, form, [text], stop) for text in texts)
        return [one for [one] in alone]
    return _shares(made, texts)


def _shares(made: Generation, texts: Sequence[str]) -> list[Generation | ModelResponseError]:
    """Part a reply by the numbers of its facts, where these texts state them, or those that do."""
    if len(texts) == 1 and parse_triples(spoken(made.text)).triples:
        return [made]
    stated: list[list[Spo]] = [[] for _ in texts]
    facts = read_facts(made.text)
    for fact in facts:
        homes = list(range(len(texts)))
        if len(texts) > 1:
            homes = [at for at in homes if is_stated(fact.spo, "", texts[at])]
        for at in [at for at in homes if at + 1 in fact.numbers] or homes:
            stated[at].append(fact.spo)
    said = [format_triples(triples) or "none" if facts else made.text for triples in stated]
    return [replace(made, text=said[0]), *(Share(text) for text in said[1:])]
