"""Arrays in files, opened by one thread at a time.

NumPy reads the head of a file as a Python literal, and where two threads read literals at once,
Python 3.11 may raise SystemError (its issue 106905).
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

OPENING = Lock()
"""Held while arrays are opened."""


def open_array(path: Path) -> npt.NDArray[Any]:
    """Map an array's file into memory; nothing is unpickled."""
    with OPENING:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
