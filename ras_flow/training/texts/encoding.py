"""Texts as token ids: the prompt as at inference, and a target to learn.

Labels are -100 for the prompt and for padding, so the loss is on the target and its end. Of a
target after which more should follow, the last character and the end are not learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ras_flow.llms.local.generation import as_plain_text, chat_text
from ras_flow.parts.prompted.prompting import ask, few_shot
from ras_flow.support.extras import require
from ras_flow.training.texts.config import LengthSettings

IGNORED = -100
"""The label of what is not learnt from, as in transformers and torch."""

Rows = Sequence[dict[str, list[int]]]
"""Encoded examples."""


@dataclass(frozen=True)
class Encoder:
    """Turns texts into token ids; causal models need a chat template."""

    tokenizer: Any
    kind: str
    lengths: LengthSettings

    def __call__(
        self, instruction: str, text: str, target: str, *, ends: bool = True
    ) -> dict[str, list[int]] | None:
        """Encode what is asked and what to write; None if the target is too long."""
        ids, labels = self._target(as_plain_text(target, self.tokenizer), ends)
        if len(ids) > self.lengths.target:
            return None
        prompt = self.prompt(instruction, text)
        if self.kind == "seq2seq":
            return {"input_ids": prompt, "labels": labels}
        return {"input_ids": prompt + ids, "labels": [IGNORED] * len(prompt) + labels}

    def fits(self, text: str) -> bool:
        """Tell whether a text is short enough to learn from."""
        return len(self.tokenizer.encode(text, add_special_tokens=False)) <= self.lengths.source

    def prompt(self, instruction: str, text: str) -> list[int]:
        """Return the tokens that come before the output, the same as at inference."""
        messages = ask(few_shot(instruction, ()) if instruction else [], text)
        plain: list[dict[str, str]] = [
            {"role": m["role"], "content": as_plain_text(m["content"], self.tokenizer)}
            for m in messages
        ]
        if self.kind == "seq2seq":
            return list(self.tokenizer.encode("\n\n".join(m["content"] for m in plain)))
        written = chat_text(self.tokenizer, plain)
        return list(self.tokenizer.encode(written, add_special_tokens=False))

    def _target(self, text: str, ends: bool) -> tuple[list[int], list[int]]:
        """Return a target's tokens and their labels, the end included."""
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids, end = list(encoded["input_ids"]), self.tokenizer.eos_token_id
        if ends:
            return [*ids, end], [*ids, end]
        learnt = [
            token if stop < len(text) else IGNORED
            for token, (_, stop) in zip(ids, encoded["offset_mapping"], strict=True)
        ]
        return [*ids, end], [*learnt, IGNORED]


def batches_of(tokenizer: Any, model: Any, kind: str) -> Callable[[Rows], Any]:
    """Return a collator: encoded examples, padded on the side that the tokenizer says.

    A causal model gets ``logits_to_keep`` as well: logits over a whole vocabulary are computed from
    the first target on, and not for the prompts.
    """
    collator = require("transformers", extra="local").DataCollatorForSeq2Seq
    if kind == "seq2seq":
        return cast(Callable[[Rows], Any], collator(tokenizer, model=model))
    pad = collator(tokenizer)

    def collate(rows: Rows) -> Any:
        batch = pad(rows)
        labels = batch["labels"]
        # A token is predicted at the position before it.
        first = int((labels != IGNORED).any(0).nonzero()[0]) - 1
        kept = {"labels": labels[:, first:], "logits_to_keep": labels.shape[1] - first}
        return {**batch, **kept, "use_cache": False}

    return collate


def mean_loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
    """Return the loss of an encoder-decoder as a mean over a step's tokens, not over a batch's."""
    torch = require("torch", extra="local")
    summed = torch.nn.functional.cross_entropy(
        outputs["logits"].flatten(0, 1).float(), labels.flatten(), reduction="sum"
    )
    return summed / (
        (labels != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
    )
