"""Number formats: that in which language models of this process compute, and those of exports."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Literal

from ras_flow.errors import ConfigurationError
from ras_flow.support.extras import require

_CPU = Path("/proc/cpuinfo")

DTYPE = "RAS_FLOW_LOCAL_DTYPE"
"""Environment variable: the format."""

Precision = Literal["float32", "bfloat16"]
"""What language models of this process compute in."""

DType = Literal["float32", "bfloat16", "float16"]
"""What the weights of an exported checkpoint are in."""


def local_precision() -> Precision:
    """Return the format: what the environment says, or else bfloat16 on CPUs that compute in it.

    bfloat16 takes half the memory, and less time: decoding mostly waits for weights. Its rounding
    lets what is written depend on what is written beside it. No identity names it, so that triples
    of one machine are read on another.
    """
    given = os.environ.get(DTYPE)
    match given:
        case "float32" | "bfloat16":
            return given
        case None | "":
            gpu = require("torch", extra="local").cuda.is_available()
            return "bfloat16" if not gpu and _computes_in_bfloat16() else "float32"
    raise ConfigurationError(
        f"The environment variable {DTYPE} is {given!r}: set it to float32 or bfloat16, or not at "
        "all."
    )


@cache
def _computes_in_bfloat16() -> bool:
    """Tell whether the CPU does; its description is long, and every call of a model asks."""
    able = _CPU.read_text(encoding="utf-8").split() if _CPU.is_file() else []
    return not {"avx512_bf16", "amx_bf16"}.isdisjoint(able)
