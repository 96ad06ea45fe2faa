"""Steps whose gradients are no numbers are left out: one of them would leave no weight a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.support.extras import require

MOST = 5
"""Such steps in a row at which training ends: then it is no longer one odd batch."""


def finite_steps(log: Callable[[str], None]) -> Any:
    """Return a callback for transformers' Trainer that leaves such steps out.

    In bfloat16 on a GPU there was one in eight hundred, and all that was learnt was lost by it.
    """
    torch = require("torch", extra="local")
    base: Any = require("transformers", extra="local").TrainerCallback

    class Finite(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.in_a_row = 0

        def on_pre_optimizer_step(
            self, args: Any, state: Any, control: Any, model: Any = None, **_: Any
        ) -> None:
            weights = [weight for weight in model.parameters() if weight.grad is not None]
            norm = torch.nn.utils.get_total_norm([weight.grad for weight in weights])
            if torch.isfinite(norm):
                self.in_a_row = 0
                return
            self.in_a_row += 1
            step = state.global_step + 1
            if self.in_a_row == min(MOST, state.max_steps):
                raise ConfigurationError(
                    f"The gradients of {self.in_a_row} steps in a row, to step {step}, are no "
                    "numbers. Lower optimizer.learning_rate or set optimizer.precision = "
                    '"float32", and name another output; or run it again, to go on from the last '
                    "checkpoint."
                )
            for weight in weights:
                weight.grad = None
            if state.is_world_process_zero:
                log(f"step {step}: the gradients are no numbers, so it changes no weight")

    return Finite()
