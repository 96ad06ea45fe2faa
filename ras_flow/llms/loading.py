"""A language model by its name."""

from __future__ import annotations

from ras_flow.components import LanguageModel
from ras_flow.llms.chat import ChatLanguageModel
from ras_flow.llms.local import LocalLanguageModel
from ras_flow.llms.seq2seq import LocalSeq2SeqModel, is_seq2seq
from ras_flow.llms.served import ServedLanguageModel
from ras_flow.llms.weights import SMOLLM2


def load_language_model(
    name: str,
    *,
    base_url: str | None = None,
    timeout: float = 60.0,
    max_retries: int = 4,
    max_concurrency: int = 8,
    window: int | None = None,
) -> LanguageModel:
    """Return the language model of a name; weights are loaded on first use.

    Args:
        name: ``local:default`` (the embedded model as it was before training: the trained planner,
            extractor and answerer that this name means elsewhere are made by
            :class:`ras_flow.parts.Parts`), ``local:`` with a folder or a name on the model hub (a
            causal language model or, as its configuration tells, an encoder-decoder), ``vllm:``
            with the same for a vLLM server that calls the model by that name, or
            ``provider:model`` as LangChain's ``init_chat_model`` takes it, for example
            ``anthropic:claude-sonnet-4-5`` or ``openai:gpt-5-mini``.
        base_url: Address of the provider's server, for example of an OpenAI-compatible one, or of
            the vLLM server. Local models have none.
        timeout: Seconds that one request may take.
        max_retries: Attempts after the first, for failures that may pass.
        max_concurrency: Requests under way at once; all models of one name, address and number
            share these.
        window: Tokens of a prompt and its answer that a chat model takes together; None for its own
            limit. The other kinds know theirs.

    Returns:
        The model.

    Raises:
        ConfigurationError: The name, the provider or the path is unknown, or a key is missing.
        MissingExtraError: The provider's package is not installed.
    """
    kind, _, rest = name.partition(":")
    if kind == "local":
        model = SMOLLM2 if rest in ("", "default") else rest
        return LocalSeq2SeqModel(model) if is_seq2seq(model) else LocalLanguageModel(model)
    if kind == "vllm" and rest:
        return ServedLanguageModel(
            rest,
            base_url=base_url,
            timeout=timeout,
            max_retries=max_retries,
            max_concurrency=max_concurrency,
        )
    return ChatLanguageModel(
        name,
        base_url=base_url,
        timeout=timeout,
        max_retries=max_retries,
        max_concurrency=max_concurrency,
        window=window,
    )
