"""In which form a language model is asked for triples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ras_flow.formats.hop_reply import facts_as_json, read_facts
from ras_flow.formats.hop_view import titled
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.seq2seq import LocalSeq2SeqModel
from ras_flow.llms.local.tokenized import TokenizedModel
from ras_flow.llms.local.tuned import find_tuned
from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.llms.remote.chat import ChatLanguageModel
from ras_flow.llms.remote.served import ServedLanguageModel
from ras_flow.parts.prompted.prompting import few_shot
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Message
from ras_flow.prompts import extractor as prompts
from ras_flow.settings.context import ExtractorOutput

TOGETHER = 5
"""Passages that a chat model reads at once: those of a hop, as a rule."""

SHORT = 128
"""Tokens for the base of the embedded model, untrained: beyond them it only repeats itself, and the
whole batch waits for it."""


@dataclass(frozen=True)
class Form:
    """A way to ask for triples of one piece of text, which comes after the messages of ``prefix``.

    ``together`` numbered texts are asked about at once; None for one at a time, without a number.
    ``schema`` is the JSON schema to send along with numbered texts; None for free text.
    """

    prefix: Sequence[Message]
    max_new_tokens: int = 256
    schema: Mapping[str, Any] | None = None
    together: int | None = None

    def write(self, title: str, text: str) -> str:
        """Write a text as it is asked about."""
        return prompts.source(title, text) if self.together is None else titled(title, text)


def form_for(
    model: LanguageModel, output: ExtractorOutput = "text", *, together: bool = False
) -> Form:
    """Return the form for a model; what else is given counts for untrained remote models."""
    tuned = find_tuned(model.name) if isinstance(model, TokenizedModel) else None
    if tuned:
        return trained_form(tuned.instruction(), tuned.max_new_tokens)
    if isinstance(model, LocalSeq2SeqModel):
        return Form(())  # It was trained to extract: the passage alone.
    if isinstance(model, ChatLanguageModel | ServedLanguageModel):
        if output == "json":
            return json_form(TOGETHER if together else 1)
        if output == "trained":
            return trained_form(prompts.TRAINED_INSTRUCTION)
        return numbered_form() if together else text_form()
    embedded = isinstance(model, LocalLanguageModel) and model.name == SMOLLM2
    return text_form(SHORT) if embedded else text_form()


def text_form(max_new_tokens: int = 512) -> Form:
    """Return the form for chat models of any kind: rules and example; the triple format back.

    The facts of 100 words take up to some 400 tokens; those of every fifth passage more than 256.
    """
    return Form(few_shot(prompts.INSTRUCTION, prompts.EXAMPLES), max_new_tokens)


def numbered_form() -> Form:
    """Return the form for chat models that read a hop's passages at once."""
    prefix = few_shot(prompts.NUMBERED_INSTRUCTION, prompts.NUMBERED_EXAMPLES)
    return Form(prefix, max_new_tokens=512, together=TOGETHER)


def json_form(together: int = 1) -> Form:
    """Return the form for chat models whose server takes a schema: the same rules, with JSON."""
    examples = [
        (given, json.dumps({"facts": facts_as_json(read_facts(made))}, ensure_ascii=False))
        for given, made in prompts.NUMBERED_EXAMPLES
    ]
    prefix = few_shot(prompts.JSON_INSTRUCTION, examples)
    return Form(prefix, max_new_tokens=1024, schema=prompts.SCHEMA, together=together)


def trained_form(instruction: str, max_new_tokens: int = 512) -> Form:
    """Return the form in which `ras-flow train triples` trains extractors."""
    return Form(few_shot(instruction, ()) if instruction else (), max_new_tokens)
