"""The Graph LLM (§3.4): a language model that reads a graph as soft tokens among its words."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import nn

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.batching import GraphBatch, Graphs
from ras_flow.graph_llm.collate import IGNORED
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.prompt import Prompt, PromptFormatter
from ras_flow.graph_llm.soft_tokens import all_words, encode_graphs, graph_part, place
from ras_flow.llms.local import capacity, generation
from ras_flow.llms.local.adapter import without_peft_warnings
from ras_flow.parts.records import Generation
from ras_flow.support.extras import require


class GraphLLM(nn.Module):
    """A frozen causal language model with LoRA, a graph encoder and a projector.

    Only LoRA, graph encoder and projector are trainable. Another module may replace ``encoder``: it
    takes a list of graphs, None for an empty one, and returns for each a tensor of
    shape (``config.gnn.count_tokens(graph)``, ``config.gnn.width``). What was saved of such a
    model, :func:`ras_flow.graph_llm.checkpoint.load_weights` reads once it is made again; a
    subclass of :class:`ras_flow.graph_llm.shared.SharedGraphLLM` with its ``config``, whose
    ``model`` returns it, plays the roles of :mod:`ras_flow.graph_llm.roles`.

    Attributes:
        formatter: Formats requests for it.
        has_adapter: LoRA is in place, not merged into the base (``adapted``).
        encoder: The graph encoder.
        projector: From its vectors to the size of word embeddings.
    """

    def __init__(
        self,
        config: GraphLLMConfig,
        language_model: Any,
        tokenizer: Any,
        *,
        adapted: bool = False,
    ) -> None:
        super().__init__()
        if tokenizer.eos_token_id is None:
            raise ConfigurationError(
                f"The tokenizer of {config.base!r} has no end token, so a text could not end. "
                "Set its eos_token."
            )
        self.config = config
        self.set_tokenizer(tokenizer)
        language_model.requires_grad_(False)
        self.has_adapter = config.lora is not None and not adapted
        self.lm = _with_lora(language_model, config) if self.has_adapter else language_model
        if config.gnn:
            width = language_model.get_input_embeddings().weight.shape[1]
            size = 1.0 if adapted else _size(all_words(language_model))
            made = graph_part(config, width, size=size).to(language_model.device)
            self.encoder, self.projector = made["encoder"], made["projector"]
        self.forget()

    def set_tokenizer(self, tokenizer: Any) -> None:
        """Read and write with a tokenizer, which may be shared with other models."""
        self.tokenizer = tokenizer
        self.formatter = PromptFormatter(tokenizer, self.config)

    @property
    def base(self) -> Any:
        """The language model itself, LoRA in place, without peft's wrapper."""
        return self.lm.get_base_model() if self.has_adapter else self.lm

    @property
    def graph_modules(self) -> nn.ModuleDict:
        """Graph encoder and projector, whose weights are saved together."""
        return nn.ModuleDict({"encoder": self.encoder, "projector": self.projector})

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        device: torch.device = self.base.device
        return device

    def forget(self) -> None:
        """Forget what was computed with other weights: those of a prompt's beginning are kept."""
        self._loaded = generation.LoadedModel(self.base)

    def train(self, mode: bool = True) -> Self:
        """Switch between training and evaluation; what was computed before is forgotten."""
        self.forget()
        return super().train(mode)

    def soft_tokens(self, graphs: Graphs | GraphBatch) -> list[torch.Tensor]:
        """Encode graphs; see :func:`.soft_tokens.encode_graphs`."""
        return encode_graphs(self.encoder, self.projector, graphs)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        graphs: Graphs | GraphBatch,
        labels: torch.Tensor | None = None,
        weights: torch.Tensor | None = None,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> Any:
        """Predict the next token at each position; with labels, also the loss (§3.4).

        Args:
            input_ids: Shape (batch, tokens), with :data:`ras_flow.graph_llm.prompt.SOFT` where
                the graphs' soft tokens go.
            attention_mask: Same shape; 0 for padding, on either side.
            graphs: One graph a row; or what ``batch_graphs`` made of them.
            labels: Same shape; -100 where nothing is to be learned.
            weights: Same shape: how much each label counts; None for 1 each.
            num_items_in_batch: What the sum of the losses is divided by; None for the number of
                labels. Trainer passes the number in all batches of a step.
        """
        kept = 0  # all
        if labels is not None:
            learned = (labels != IGNORED).any(0).nonzero()
            first = max(int(learned[0]) - 1, 0) if len(learned) else labels.shape[1] - 1
            kept = labels.shape[1] - first
        output = self.lm(
            inputs_embeds=self.embed(input_ids, graphs),
            attention_mask=attention_mask,
            position_ids=(attention_mask.cumsum(1) - 1).clamp(min=0),
            use_cache=False,
            logits_to_keep=kept,
        )
        if labels is not None:
            first = labels.shape[1] - kept + 1
            # The others first go out: in float32 a vocabulary for each token of the batch is
            # gigabytes.
            chosen = labels[:, first:] != IGNORED
            output["loss"] = loss_of(
                output.logits[:, :-1][chosen],
                labels[:, first:][chosen],
                None if weights is None else weights[:, first:][chosen],
                num_items_in_batch,
            )
        return output

    def generate(
        self,
        prompts: Sequence[Prompt],
        graphs: Graphs,
        *,
        max_new_tokens: int,
        batch_size: int = 8,
        given_up: threading.Event | None = None,
    ) -> list[Generation]:
        """Continue each prompt greedily, with dropout off and the base's sampling unused."""
        order = sorted(range(len(prompts)), key=lambda row: len(prompts[row].input_ids))
        made: dict[int, Generation] = {}
        training = self.training
        if training:
            self.eval()
        try:
            with generation.memory_errors_say(
                f"Memory ran out in the Graph LLM over {self.config.base!r}. Use a machine with "
                "more, hide a GPU that is too small (CUDA_VISIBLE_DEVICES=), or have vLLM run the "
                "model, in half the memory: ras-flow export --dtype bfloat16. In training, lower "
                f"watch.batch_size (now {batch_size})."
            ):
                at_once = capacity.rows_at_once(self.base, batch_size)
                for start in range(0, len(order), at_once):
                    rows = order[start : start + at_once]
                    outputs = generation.generate(
                        self._loaded,
                        self.tokenizer,
                        self._encode(
                            [prompts[i] for i in rows],
                            [graphs[i] for i in rows],
                            self._loaded.shares,
                        ),
                        name=self.config.base,
                        batch_size=batch_size,
                        max_new_tokens=max_new_tokens,
                        given_up=given_up,
                    )
                    made.update(zip(rows, outputs, strict=True))
        finally:
            if training:
                self.train()
        return [made[row] for row in range(len(prompts))]

    @torch.inference_mode()
    def _encode(
        self, prompts: Sequence[Prompt], graphs: Graphs, share: bool
    ) -> list[generation.Encoded]:
        """Embed what follows the fixed beginning, and that too where it cannot be shared."""
        encoded = []
        soft = [[tokens] for tokens in self.soft_tokens(graphs)] if self.config.gnn else None
        for row, prompt in enumerate(prompts):
            head = prompt.head if share else ()
            rest = prompt.input_ids[len(head) :]
            ids = torch.tensor([rest], device=self.device)
            embedded = place(self._words(ids), ids, soft[row] if soft else [])
            encoded.append(generation.Encoded(head, embedded[0], rest))
        return encoded

    def embed(self, input_ids: torch.Tensor, graphs: Graphs | GraphBatch) -> torch.Tensor:
        """Return the embeddings of words and graphs."""
        soft = self.soft_tokens(graphs) if self.config.gnn else []
        return place(self._words(input_ids), input_ids, soft)

    def _words(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of words, and of anything where soft tokens go."""
        words: torch.Tensor = self.base.get_input_embeddings()(input_ids.clamp(min=0))
        return words


def loss_of(
    logits: torch.Tensor,
    labels: torch.Tensor,
    weights: torch.Tensor | None,
    count: torch.Tensor | int | None,
) -> torch.Tensor:
    """Return the weighted loss on labels, in nats a label (§3.4)."""
    each = nn.functional.cross_entropy(logits.float(), labels, reduction="none")
    if weights is not None:
        each = each * weights
    return each.sum() / (len(labels) if count is None else count)


def _size(words: torch.Tensor) -> float:
    """Return the root mean square, in parts: in float32 a large vocabulary takes gigabytes."""
    squares = sum(part.float().square().sum().item() for part in torch.split(words, 8192))
    return float((squares / words.numel()) ** 0.5)


def _with_lora(language_model: Any, config: GraphLLMConfig) -> Any:
    peft = require("peft", extra="local")
    lora = config.lora
    assert lora is not None
    settings = peft.LoraConfig(
        task_type="CAUSAL_LM",
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets if isinstance(lora.targets, str) else list(lora.targets),
    )
    try:
        with without_peft_warnings():
            return peft.get_peft_model(language_model, settings)
    except ValueError as error:
        raise ConfigurationError(
            f"LoRA finds no layers named {lora.targets!r} in {config.base!r}. Name linear layers "
            'of that model as targets, or "all-linear".'
        ) from error
