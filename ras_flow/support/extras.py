"""Loading of optional packages, with an install hint where one is missing."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

from ras_flow.errors import MissingExtraError


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module.

    Threads of torch and FAISS then rest while they wait for each other, unless ``OMP_WAIT_POLICY``
    says otherwise or the process has loaded OpenMP before.
    """
    # By default they spin, and take cores from other processes and from each other.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + ".").startswith(error.name + "."):
            raise
        raise MissingExtraError(
            f"This needs the package {module!r}, which is not installed. "
            f"Install it with: pip install 'ras-flow[{extra}]'"
        ) from error
