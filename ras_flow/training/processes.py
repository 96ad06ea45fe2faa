"""How many processes train together, each on a GPU of its own if there are GPUs."""

from __future__ import annotations

import atexit
import os
from typing import Any

from ras_flow.support.extras import require
from ras_flow.training.settings import OptimizerSettings


def processes() -> int:
    """Return how many processes train together, as torchrun and accelerate say."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def examples_a_step(settings: OptimizerSettings) -> int:
    """Return how many examples all processes together compute in a step."""
    return settings.batch_size * settings.accumulation * processes()


def is_first() -> bool:
    """Tell whether this process writes for all that train together."""
    return os.environ.get("RANK", "0") == "0"


def any_says(said: bool, device: Any) -> bool:
    """Tell each process whether one of them says so: all must stop at the same step."""
    if processes() == 1:
        return said
    torch = require("torch", extra="local")
    together = torch.tensor(float(said), device=device)
    torch.distributed.all_reduce(together, torch.distributed.ReduceOp.MAX)
    return bool(together)


def own_gpu() -> None:
    """Have each process load its models into a GPU of its own, not all into the first one.

    At its end it leaves the group: torch aborts a process whose threads still wait for others.
    """
    if processes() == 1:
        return
    torch = require("torch", extra="local")
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    atexit.register(_leave, torch.distributed)


def _leave(distributed: Any) -> None:
    if distributed.is_initialized():
        distributed.destroy_process_group()
