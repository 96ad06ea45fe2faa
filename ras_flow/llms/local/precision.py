"""Number formats: that in which language models of this process compute, and those of exports."""

from __future__ import annotations

import os
from typing import Literal

from ras_flow.errors import ConfigurationError
from ras_flow.support.extras import require

DTYPE = "RAS_FLOW_LOCAL_DTYPE"
"""Environment variable: the format."""

Precision = Literal["float32", "bfloat16"]
"""What language models of this process compute in."""

DType = Literal["float32", "bfloat16", "float16"]
"""What the weights of an exported checkpoint are in."""


def local_precision() -> Precision:
    """Return the format: what the environment says, or else bfloat16 on CPUs that compute in it.

    It takes half the memory, and half the time, of which most goes into reading weights. Its
    rounding lets what is written depend on what is written beside it, as other machines do; so
    no identity names it.
    """
    given = os.environ.get(DTYPE)
    match given:
        case "float32" | "bfloat16":
            return given
        case None | "":
            torch = require("torch", extra="local")
            able = torch.cpu.get_capabilities()
            fast = able.get("avx512_bf16") or able.get("amx_bf16")
            return "bfloat16" if fast and not torch.cuda.is_available() else "float32"
    raise ConfigurationError(
        f"The environment variable {DTYPE} is {given!r}: set it to float32 or bfloat16, or not at "
        "all."
    )
