"""What methods have in common that decide on each step by asking their model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ras_flow.evaluation.systems.loop import Thought
from ras_flow.evaluation.systems.prompting import Block, is_long, write
from ras_flow.evaluation.systems.single import Reader
from ras_flow.parts.prompted.prompting import prefix_for
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Reply
from ras_flow.routing import pending_plan
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState


class Stepwise(ABC):
    """Asks for one step at a time; without a conclusion, it answers from what was found.

    ``again`` is what is said after an invalid reply. ``task`` is what a model that was trained for
    these steps names in ``trained_for``.
    """

    task: str
    instruction: str
    examples: Sequence[tuple[str, str]]
    again: str
    step_tokens: int
    stop: tuple[str, ...]

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._reader = Reader(model)
        self._prefix = prefix_for(model, self.task, self.instruction, self.examples)

    async def think(self, state: RasState, context: Context) -> Thought:
        """Ask for the next step."""
        blocks = self.blocks(state, context)
        if (rejected := pending_plan(state)) and (problem := rejected.get("problem")):
            blocks.append(Block(self.again.replace("{problem}", problem)))
        reply = await write(
            self._model, self._prefix, blocks, max_new_tokens=self.step_tokens, stop=self.stop
        )
        return self.decide(reply)

    async def answer(self, state: RasState, context: Context) -> Reply | str:
        """Give the answer of the step that concluded; else, or if it is to be long, ask for it."""
        last = state["plans"][-1] if state["plans"] else None
        if last and last["label"] == "SUFFICIENT" and last["raw"] and not is_long(context):
            return self.conclusion(last["raw"])
        return await self._reader.read(state, context, self.notes(state))

    @abstractmethod
    def blocks(self, state: RasState, context: Context) -> list[Block]:
        """Write what the model sees before its next step."""

    @abstractmethod
    def decide(self, reply: Reply) -> Thought:
        """Read a step."""

    @abstractmethod
    def conclusion(self, text: str) -> str:
        """Return the answer in a step that concluded."""

    def notes(self, state: RasState) -> str:
        """Write what the steps came to, for the answer."""
        return ""
