"""How many processes train together, each on one GPU where there are any."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from typing import Any

from ras_flow.support.extras import require


def processes() -> int:
    """Return how many processes train together, as torchrun and accelerate tell each of them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Tell whether this is the process that writes for all that train together."""
    return os.environ.get("RANK", "0") == "0"


def any_says(said: bool, device: Any) -> bool:
    """Tell each process what one of them says: all must stop at the same step."""
    if processes() == 1:
        return said
    torch = require("torch", extra="local")
    together = torch.tensor(float(said), device=device)
    torch.distributed.all_reduce(together, torch.distributed.ReduceOp.MAX)
    return bool(together)


def own_gpu() -> None:
    """Have each process load its models into a GPU of its own, not all into the first one.

    At its end it leaves the others in order: torch aborts one whose threads still wait for them.
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


def one_gpu(arguments: Any, log: Callable[[str], None]) -> None:
    """Keep a process to one GPU: transformers would give each of them a batch of its own."""
    if arguments.n_gpu > 1:
        log(f"one of {arguments.n_gpu} GPUs is used; start it by torchrun to train on more of them")
        arguments._n_gpu = 1
