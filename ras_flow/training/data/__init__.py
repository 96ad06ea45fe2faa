"""Training data: one record format, converters of published data sets, and HotpotQA-SUBQ.

Importing this package loads neither torch nor a model; names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ras_flow.training.data.config import MixConfig, load_config
    from ras_flow.training.data.convert import convert_mix
    from ras_flow.training.data.hotpotqa_subq import BuildConfig, Models, build_hotpotqa_subq
    from ras_flow.training.data.playing import play_mix
    from ras_flow.training.data.records import Record, read_records
    from ras_flow.training.data.sources import read_cases
    from ras_flow.training.data.splits import Splitter, check_labels
    from ras_flow.training.data.stats import Stats
    from ras_flow.training.data.writer import RecordWriter

_HOMES = {
    "BuildConfig": "hotpotqa_subq",
    "MixConfig": "config",
    "Models": "hotpotqa_subq",
    "Record": "records",
    "RecordWriter": "writer",
    "Splitter": "splits",
    "Stats": "stats",
    "build_hotpotqa_subq": "hotpotqa_subq",
    "check_labels": "splits",
    "convert_mix": "convert",
    "load_config": "config",
    "play_mix": "playing",
    "read_cases": "sources",
    "read_records": "records",
}

__all__ = [
    "BuildConfig",
    "MixConfig",
    "Models",
    "Record",
    "RecordWriter",
    "Splitter",
    "Stats",
    "build_hotpotqa_subq",
    "check_labels",
    "convert_mix",
    "load_config",
    "play_mix",
    "read_cases",
    "read_records",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
