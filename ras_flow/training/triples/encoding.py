"""Examples as token ids: the prompt as at inference, and a target that is learnt from.

Labels are -100 for the prompt and for padding, so the loss is on the triples and the end token. Of
a partial example (see :mod:`.cleaning`), or a target that had to be cut, the last ")" and the end
token are not learnt from: they would say that nothing more follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ras_flow.formats.triples import format_triples
from ras_flow.llms.local.generation import as_plain_text, chat_text
from ras_flow.parts.prompted.prompting import ask, few_shot
from ras_flow.prompts.extractor import source
from ras_flow.support.extras import require
from ras_flow.training.triples.config import LengthSettings, ModelSettings
from ras_flow.training.triples.examples import Example

IGNORED = -100
"""The label of what is not learnt from, as transformers has it."""


@dataclass(frozen=True)
class Encoder:
    """Turns examples into token ids.

    Attributes:
        tokenizer: A fast tokenizer of transformers, with a chat template for causal models.
        model: Kind of model, and its instruction.
        lengths: Longest text and target.
    """

    tokenizer: Any
    model: ModelSettings
    lengths: LengthSettings

    def __call__(self, example: Example) -> dict[str, list[int]] | None:
        """Encode one example."""
        if self._count(example.text) > self.lengths.source:
            return None
        target, labels = self._target(example)
        if not target:
            return None
        prompt = self.prompt(example.title, example.text)
        if self.model.kind == "seq2seq":
            return {"input_ids": prompt, "labels": labels}
        return {"input_ids": prompt + target, "labels": [IGNORED] * len(prompt) + labels}

    def prompt(self, title: str, text: str) -> list[int]:
        """Return the tokens that come before the output, the same as at inference."""
        prefix = few_shot(self.model.instruction, ()) if self.model.instruction else []
        messages = ask(prefix, source(title, text))
        plain: list[dict[str, str]] = [
            {"role": m["role"], "content": as_plain_text(m["content"], self.tokenizer)}
            for m in messages
        ]
        if self.model.kind == "seq2seq":
            return list(self.tokenizer.encode("\n\n".join(m["content"] for m in plain)))
        written = chat_text(self.tokenizer, plain)
        return list(self.tokenizer.encode(written, add_special_tokens=False))

    def _target(self, example: Example) -> tuple[list[int], list[int]]:
        """Return the target's tokens and their labels; nothing where no triple fits."""
        end = [self.tokenizer.eos_token_id]
        for count in range(len(example.triples), 0, -1):
            text = as_plain_text(format_triples(example.triples[:count]), self.tokenizer)
            encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
            ids = list(encoded["input_ids"])
            if len(ids) + 1 > self.lengths.target:
                continue
            if example.complete and count == len(example.triples):
                return ids + end, ids + end
            learnt = [
                token if stop < len(text) else IGNORED
                for token, (_, stop) in zip(ids, encoded["offset_mapping"], strict=True)
            ]
            return ids + end, [*learnt, IGNORED]
        return [], []

    def _count(self, text: str) -> int:
        return len(self.tokenizer.encode(text, add_special_tokens=False))


@dataclass(frozen=True)
class Collator:
    """Pads encoded examples to one length.

    Attributes:
        pad: The padding token's id.
        causal: Pad on the left, so that all targets end together, and compute logits only from
            the first target on: those of the prompts, over a whole vocabulary, are for nothing.
    """

    pad: int
    causal: bool

    def __call__(self, batch: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
        """Make a batch.

        Returns:
            Tensors ``input_ids`` and ``attention_mask`` of shape (examples, longest) and
            ``labels`` of shape (examples, logits), and for causal models the number of these
            logits as ``logits_to_keep``: the last ones.
        """
        torch = require("torch", extra="local")

        def padded(rows: list[list[int]], filler: int) -> Any:
            longest = max(map(len, rows))
            fill = [[filler] * (longest - len(row)) for row in rows]
            pairs = zip(fill, rows, strict=True)
            return torch.tensor([[*f, *row] if self.causal else [*row, *f] for f, row in pairs])

        inputs = [row["input_ids"] for row in batch]
        labels = padded([row["labels"] for row in batch], IGNORED)
        made = {
            "input_ids": padded(inputs, self.pad),
            "attention_mask": padded([[1] * len(row) for row in inputs], 0),
        }
        if not self.causal:
            return made | {"labels": labels}
        # A token is predicted at the position before it.
        first = int((labels != IGNORED).any(0).nonzero()[0]) - 1
        return made | {"labels": labels[:, first:], "logits_to_keep": labels.shape[1] - first}
