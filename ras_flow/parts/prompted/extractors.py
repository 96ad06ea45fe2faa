"""The extractor that fits a language model."""

from __future__ import annotations

from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.seq2seq import LocalSeq2SeqModel
from ras_flow.llms.local.tokenized import TokenizedModel
from ras_flow.llms.local.tuned import find_tuned
from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.llms.remote.chat import ChatLanguageModel
from ras_flow.llms.remote.served import ServedLanguageModel
from ras_flow.parts.prompted.extractor import PromptedExtractor
from ras_flow.parts.prompted.extractor_forms import Form, json_form, text_form, trained_form
from ras_flow.parts.prompted.shared import SharedExtractor
from ras_flow.parts.protocols import LanguageModel
from ras_flow.prompts.extractor import TRAINED_INSTRUCTION
from ras_flow.settings.context import ExtractorOutput

SHORT = 128
"""Tokens for the embedded model as long as it is not trained: what it writes after them repeats
what it wrote before, and the whole batch waits for it."""


def make_extractor(model: LanguageModel, output: ExtractorOutput = "text") -> SharedExtractor:
    """Make an extractor of a language model."""
    return SharedExtractor(PromptedExtractor(model, form_for(model, output)))


def form_for(model: LanguageModel, output: ExtractorOutput = "text") -> Form:
    """Return the form in which a model is asked for triples; see :func:`make_extractor`."""
    tuned = find_tuned(model.name) if isinstance(model, TokenizedModel) else None
    if tuned:
        return trained_form(tuned.instruction, tuned.max_new_tokens)
    if isinstance(model, LocalSeq2SeqModel):
        return Form(())  # It was trained to extract: the passage alone.
    if isinstance(model, ChatLanguageModel | ServedLanguageModel):
        if output == "json":
            return json_form()
        return trained_form(TRAINED_INSTRUCTION) if output == "trained" else text_form()
    embedded = isinstance(model, LocalLanguageModel) and model.name == SMOLLM2
    return text_form(SHORT) if embedded else text_form()
