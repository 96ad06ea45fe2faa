"""In which form a language model is asked for triples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ras_flow.formats.triples import parse_triples
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

SHORT = 128
"""Tokens for the embedded model until it is trained: after them it only repeats itself, and the
whole batch waits for it."""


@dataclass(frozen=True)
class Form:
    """A way to ask for triples of one piece of text, which comes after the messages of ``prefix``.

    ``schema`` is the JSON schema to send along; None for free text.
    """

    prefix: Sequence[Message]
    max_new_tokens: int = 256
    schema: Mapping[str, Any] | None = None


def form_for(model: LanguageModel, output: ExtractorOutput = "text") -> Form:
    """Return the form for a model; ``output`` counts for remote models that are not trained."""
    tuned = find_tuned(model.name) if isinstance(model, TokenizedModel) else None
    if tuned:
        return trained_form(tuned.instruction, tuned.max_new_tokens)
    if isinstance(model, LocalSeq2SeqModel):
        return Form(())  # It was trained to extract: the passage alone.
    if isinstance(model, ChatLanguageModel | ServedLanguageModel):
        if output == "json":
            return json_form()
        return trained_form(prompts.TRAINED_INSTRUCTION) if output == "trained" else text_form()
    embedded = isinstance(model, LocalLanguageModel) and model.name == SMOLLM2
    return text_form(SHORT) if embedded else text_form()


def text_form(max_new_tokens: int = 512) -> Form:
    """Return the form for chat models of any kind: rules and example; the triple format back.

    The facts of 100 words take up to some 400 tokens; those of every fifth passage more than 256.
    """
    return Form(few_shot(prompts.INSTRUCTION, prompts.EXAMPLES), max_new_tokens)


def json_form() -> Form:
    """Return the form for chat models whose server takes a schema: the same rules, with JSON."""
    examples = [(given, _as_json(made)) for given, made in prompts.EXAMPLES]
    prefix = few_shot(prompts.JSON_INSTRUCTION, examples)
    return Form(prefix, max_new_tokens=1024, schema=prompts.SCHEMA)


def trained_form(instruction: str, max_new_tokens: int = 512) -> Form:
    """Return the form in which `ras-flow train triples` trains extractors."""
    return Form(few_shot(instruction, ()) if instruction else (), max_new_tokens)


def _as_json(triples: str) -> str:
    names = ("subject", "predicate", "object")
    facts = [dict(zip(names, triple, strict=True)) for triple in parse_triples(triples).triples]
    return json.dumps({"triples": facts}, ensure_ascii=False)
