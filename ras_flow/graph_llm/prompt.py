"""What a Graph LLM reads and writes: one formatter for training and inference.

::

    <instruction> <soft tokens> <history and question> -> <plan or answer>

inside the base model's chat template, if it has one; with ``gnn.place = "after"`` the soft tokens
come last of all, with ``"label"`` those of a plan do. The instruction comes first: what is the same
for all prompts of a task is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ras_flow.formats.history import format_history
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.llms.local.generation import as_plain_text, chat_text
from ras_flow.parts.records import AnswerRequest, PlanRequest
from ras_flow.prompts.planner import AGAIN

VERSION = 1
"""Version of instructions and layout; raise it when either changes: old weights know the old."""

SOFT = -1
"""Stands for a soft token among token ids."""

PLAN_INSTRUCTION = (
    "Plan the next step towards an answer. Write [SUBQ] and one search question if a fact is still "
    "missing, [SUFFICIENT] if the facts found are enough, or [NO_RETRIEVAL] if no search is needed."
)
ANSWER_INSTRUCTION = (
    "Answer the question. Each [SUBQ] line is a search made for it, followed by the facts found. "
    "Use the facts that help."
)

_MARK = "@@HISTORY@@"


@dataclass(frozen=True)
class Prompt:
    """A formatted request: token ids with :data:`SOFT` where soft tokens go, and its words.

    ``head_length`` counts the tokens of the task's fixed beginning; ``text`` is the history, and
    ``lost_triples`` counts those that did not fit into the window.
    """

    input_ids: list[int]
    head_length: int
    instruction: str
    text: str
    lost_triples: int = 0

    @property
    def head(self) -> tuple[int, ...]:
        """The task's fixed beginning, which has no soft tokens."""
        return tuple(self.input_ids[: self.head_length])


class PromptFormatter:
    """Formats requests and targets for one base model."""

    def __init__(self, tokenizer: Any, config: GraphLLMConfig) -> None:
        self.tokenizer = tokenizer
        self.config = config
        self._frames: dict[str, tuple[list[int], str]] = {}

    def prompt(self, request: PlanRequest | AnswerRequest) -> Prompt:
        """Format a request; triples that do not fit are left out, the question never is."""
        planning = isinstance(request, PlanRequest)
        instruction = PLAN_INSTRUCTION if planning else ANSWER_INSTRUCTION
        again = ""
        if isinstance(request, PlanRequest) and request.problem is not None:
            again = "\n" + AGAIN.replace("{problem}", request.problem)
        head, tail = self._frame(instruction)
        gnn = self.config.gnn
        soft = gnn.count_tokens(request.graph) if gnn else 0
        after = gnn is not None and gnn.place in (("label", "after") if planning else ("after",))
        history = format_history(
            request.question,
            request.chain,
            instruction=request.instruction,
            one_line=True,
            max_tokens=self.config.window - len(head) - soft - len(self._ids(again + tail)),
            count_tokens=lambda text: len(self._ids(as_plain_text(text, self.tokenizer))),
        )
        text = history.text + again
        rest = self._ids(as_plain_text(text, self.tokenizer) + tail)
        graph = [SOFT] * soft
        return Prompt(
            input_ids=[*head, *rest, *graph] if after else [*head, *graph, *rest],
            head_length=len(head),
            instruction=instruction,
            text=text,
            lost_triples=history.lost_triples,
        )

    def target(self, text: str, max_tokens: int | None = None) -> list[int]:
        """Return the tokens of what the model is to write, with the one that ends it."""
        ids = [*self._ids(as_plain_text(text.strip(), self.tokenizer)), self.tokenizer.eos_token_id]
        return ids[:max_tokens]

    def _frame(self, instruction: str) -> tuple[list[int], str]:
        """Return the tokens of the fixed beginning, and the text after the history."""
        if instruction in self._frames:
            return self._frames[instruction]
        if self.tokenizer.chat_template:
            # Not as a system message: some templates refuse one.
            content = f"{instruction}\n{_MARK}"
            text = chat_text(self.tokenizer, [{"role": "user", "content": content}])
        else:
            text = f"{self.tokenizer.bos_token or ''}{instruction}\n{_MARK}\n"
        before, _, after = text.partition(_MARK)
        self._frames[instruction] = self._ids(before), after
        return self._frames[instruction]

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))
