from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ras_flow.indexes.arrays import open_array


@pytest.fixture
def busy_collector() -> Iterator[None]:
    """A garbage collector that runs all the time, and Python code with it, as finalizers do."""

    def collected(*_: Any) -> None:
        [None for _ in range(20)]

    before = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(20)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(collected)


def test_threads_open_arrays_at_once(tmp_path: Path, busy_collector: None) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(64, dtype=np.float32))

    def work(_: int) -> set[int]:
        return {len(open_array(path)) for _ in range(2000)}

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(8))) == [{64}] * 8
