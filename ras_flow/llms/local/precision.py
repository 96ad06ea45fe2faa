"""Number formats: that in which language models of this process compute, and those of exports."""

from __future__ import annotations

import os
from typing import Literal

from ras_flow.errors import ConfigurationError

DTYPE = "RAS_FLOW_LOCAL_DTYPE"
"""Environment variable: the format."""

Precision = Literal["float32", "bfloat16"]
"""What language models of this process compute in."""

DType = Literal["float32", "bfloat16", "float16"]
"""What the weights of an exported checkpoint are in."""


def local_precision() -> Precision:
    """Return the format: float32, unless whoever runs the process chose another.

    bfloat16 takes half the memory, and less time on GPUs and on processors that compute in it. Its
    rounding lets what is written depend on what is written beside it.
    """
    given = os.environ.get(DTYPE) or "float32"
    match given:
        case "float32" | "bfloat16":
            return given
    raise ConfigurationError(
        f"The environment variable {DTYPE} is {given!r}: set it to float32 or bfloat16, or not at "
        "all."
    )
