"""What is compared on what: a TOML file, read by :mod:`ras_flow.evaluation.settings`.

::

    seed = 13

    [models]                        # fields of ras_flow.Context, and `reader` for the baselines
    planner = "openai:gpt-5-mini"
    extractor = "local:default"
    answerer = "openai:gpt-5-mini"

    [settings]                      # other fields of ras_flow.Context
    top_k = 5

    [limits]
    at_once = 8                     # questions under way at once
    tokens = 2000000                # ceilings: no question is begun beyond them
    money = 5.0

    [prices."openai:gpt-5-mini"]    # for a million tokens
    input = 0.25
    output = 2.0

    [benchmarks.hotpotqa]           # any name; `format` is the name if left out
    path = "data/hotpot_dev.json"   # relative to this file
    untouched_by = "mix.toml"   # only what a training kept for testing
    limit = 100
    index = "pool"                  # the documents of all questions of the file, put together

    [systems.ras]                   # any name; `kind` is the name if left out

    [systems.single]
    top_k = [1, 5, 10, 15]          # a list makes a system of each value: single-1, single-5, …
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ras_flow.evaluation.question import Retrieval
from ras_flow.settings.context import MODEL_ROLES, Context
from ras_flow.support.ranges import NonNegative, Positive

if TYPE_CHECKING:
    from ras_flow.evaluation.systems import System

POOL = "pool"
"""Name of the index over the documents of all of a benchmark's questions."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkConfig:
    """Questions to be asked.

    Attributes:
        name: Their name in reports.
        format: A name of :mod:`ras_flow.evaluation.benchmarks`.
        path: Their file; None for ``demo``, the questions that come with the package.
        split: The part of the file to be taken.
        untouched_by: A TOML file with ``seed``, ``dev`` and ``test`` of training data; only
            questions of one of the parts that it keeps
            from training are asked.
        part: That part: ``"test"``, or ``"dev"`` for choosing among settings.
        limit: At most so many questions, drawn by the seed.
        retrieval: Replaces the benchmark's own way.
        index: The corpus: a folder, ``"demo"``, or ``"pool"``.
        corpus_metrics: Judge all answers together too, by the metrics that the benchmark has for
            that (MAUVE).
        settings: Values of :class:`ras_flow.Context` for it.
    """

    name: str
    format: str
    path: Path | None = None
    split: str | None = None
    untouched_by: Path | None = None
    part: Literal["dev", "test"] = "test"
    limit: Positive[int | None] = None
    retrieval: Retrieval | None = None
    index: str = POOL
    corpus_metrics: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SystemConfig:
    """A system to be asked.

    Attributes:
        name: Its name in reports.
        system: What it is.
        shared: Values of :class:`ras_flow.Context` that a benchmark's own replace.
        settings: Those of its own table, which replace a benchmark's.
        reader: Its model, for a baseline.
        options: Its own options.
    """

    name: str
    system: System
    shared: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    reader: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> dict[str, str]:
        """The model that it asks in each role, as prices name them."""
        if self.system.baseline:
            return dict.fromkeys(("planner", "answerer"), self.reader)
        chosen = {**self.shared, **self.settings, **self.system.fixed}
        context = Context.from_mapping(chosen)
        return {role: getattr(context, role) for role in MODEL_ROLES}


@dataclass(frozen=True)
class Price:
    """What a model costs, for a million tokens, in any currency."""

    input: NonNegative[float] = 0.0
    output: NonNegative[float] = 0.0


@dataclass(frozen=True)
class Limits:
    """How much is done at once, and in all.

    Attributes:
        at_once: Questions under way at once.
        tokens: No question is begun when so many tokens were paid for; None for no ceiling.
        money: The same in money.
    """

    at_once: Positive[int] = 4
    tokens: NonNegative[int | None] = None
    money: NonNegative[float | None] = None


@dataclass(frozen=True, kw_only=True)
class EvalConfig:
    """An evaluation.

    Attributes:
        benchmarks: The questions.
        systems: Who is asked.
        limits: How much is done at once, and in all.
        prices: By model.
        seed: What chance depends on: the questions drawn, shuffles, confidence intervals.
        text: The file, as it was read.
    """

    benchmarks: tuple[BenchmarkConfig, ...]
    systems: tuple[SystemConfig, ...]
    limits: Limits = Limits()
    prices: Mapping[str, Price] = field(default_factory=dict)
    seed: int = 13
    text: str = ""

    def context(
        self, benchmark: BenchmarkConfig, system: SystemConfig, **of_benchmark: Any
    ) -> Context:
        """Return the settings of a system on a benchmark."""
        return Context.from_mapping(
            {
                **system.shared,
                **benchmark.settings,
                **of_benchmark,
                **system.settings,
                **system.system.fixed,
            }
        )
