"""What is compared on what: a TOML file.

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
    untouched_by = "../training_configs/mix.toml"   # only what a training kept for testing
    limit = 100
    index = "pool"                  # the documents of all questions of the file, put together

    [systems.ras]                   # any name; `kind` is the name if left out

    [systems.single]
    top_k = [1, 5, 10, 15]          # a list makes a system of each value: single-1, single-5, …
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any, cast, get_args

from ras_flow.context import PAUSES, Context
from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.question import Retrieval
from ras_flow.evaluation.systems import System, find_system
from ras_flow.evaluation.table import NAME, Table
from ras_flow.toml import read_toml

POOL = "pool"
"""Name of the index over the documents of all of a benchmark's questions."""

ROLES = ("planner", "extractor", "answerer", "reader")

_NO_NAME = re.compile(r"[^A-Za-z0-9_.+-]+")
_CONTEXT = {item.name for item in fields(Context)}
_PLAIN = _CONTEXT - {"index", "task", "planning", *PAUSES}
"""Settings that are neither the benchmark's nor a person's."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkConfig:
    """Questions to be asked.

    Attributes:
        name: Their name in reports.
        format: A name of :mod:`ras_flow.evaluation.benchmarks`.
        path: Their file; None for ``demo``, the questions that come with the package.
        split: The part of the file to be taken.
        untouched_by: A mix of ``ras-flow data``; only questions that it keeps for testing are
            asked.
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
    limit: int | None = None
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
        return {role: getattr(context, role) for role in ("planner", "extractor", "answerer")}


@dataclass(frozen=True)
class Price:
    """What a model costs, for a million tokens, in any currency."""

    input: float
    output: float


@dataclass(frozen=True)
class Limits:
    """How much is done at once, and in all.

    Attributes:
        at_once: Questions under way at once.
        tokens: No question is begun when so many tokens were paid for; None for no ceiling.
        money: The same in money.
    """

    at_once: int = 4
    tokens: int | None = None
    money: float | None = None


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
        """Return the settings of a system on a benchmark.

        Args:
            benchmark: The benchmark.
            system: The system.
            of_benchmark: What the loaded benchmark asks for: its task and its way of planning.

        Raises:
            ConfigurationError: A setting is unknown or wrong.
        """
        return Context.from_mapping(
            {
                **system.shared,
                **benchmark.settings,
                **of_benchmark,
                **system.settings,
                **system.system.fixed,
            }
        )


def read_config(path: Path) -> EvalConfig:
    """Read an evaluation from a TOML file.

    Args:
        path: The file; paths in it are relative to its folder.

    Returns:
        The evaluation.

    Raises:
        ConfigurationError: It cannot be read, or a setting is unknown or wrong; the message names
            it.
    """
    tables, text = read_toml(path)
    return parse_config(tables, path.parent, path.name, text)


def parse_config(
    tables: Mapping[str, Any], folder: Path, where: str = "settings", text: str = ""
) -> EvalConfig:
    """Read an evaluation from a mapping; see :func:`read_config`."""
    top = Table(tables, where)
    seed = top.take("seed", int, 13)
    models, settings = top.table("models"), top.table("settings")
    limits, prices = top.table("limits"), top.table("prices")
    benchmarks, systems = top.table("benchmarks"), top.table("systems")
    top.nothing_else()
    if seed < 0:
        raise ConfigurationError(f"{where}: seed = {seed} must not be negative.")
    shared = {**settings.some(_PLAIN - set(ROLES)), **models.some({*ROLES, "base_url"})}
    settings.nothing_else()
    models.nothing_else()
    made = EvalConfig(
        benchmarks=tuple(
            _benchmark(name, benchmarks.table(name), folder) for name in benchmarks.names()
        ),
        systems=tuple(
            system
            for name in systems.names()
            for system in _systems(name, systems.table(name), shared)
        ),
        limits=_limits(limits),
        prices={name: _price(prices.table(name)) for name in prices.names()},
        seed=seed,
        text=text,
    )
    if not made.benchmarks or not made.systems:
        raise ConfigurationError(
            f"{where}: name at least one benchmark and one system: [benchmarks.NAME], "
            "[systems.NAME]."
        )
    twice = {one.name for one in made.systems if sum(o.name == one.name for o in made.systems) > 1}
    if twice:
        raise ConfigurationError(f"{where}: two systems are called {sorted(twice)[0]!r}.")
    for benchmark, system in product(made.benchmarks, made.systems):
        try:
            made.context(benchmark, system)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: systems.{system.name}: {error}") from error
    if made.limits.money is not None and not made.prices:
        raise ConfigurationError(
            f'{where}: limits.money needs prices: [prices."MODEL"] with input and output.'
        )
    asked = {model for system in made.systems for model in system.models.values()}
    for name in sorted(set(made.prices) - asked):
        raise ConfigurationError(
            f"{where}: prices: no system asks a model {name!r}. Write the name as it is written "
            f"among the models; asked are {', '.join(sorted(asked))}."
        )
    return made


def _benchmark(name: str, table: Table, folder: Path) -> BenchmarkConfig:
    path = table.take("path", str, None)
    limit = table.take("limit", int, None)
    retrieval = table.take("retrieval", str, None)
    index = table.take("index", str, POOL)
    format = table.take("format", str, name)
    settings = table.some(_PLAIN - set(ROLES) | {"task"})
    split = table.take("split", str, None)
    untouched_by = table.take("untouched_by", str, None)
    together = table.flag("corpus_metrics")
    table.nothing_else()
    if limit is not None and limit < 1:
        raise ConfigurationError(f"{table.where}: limit = {limit} must be at least 1.")
    if retrieval not in (None, *get_args(Retrieval)):
        raise ConfigurationError(
            f"{table.where}: retrieval = {retrieval!r} is none of {', '.join(get_args(Retrieval))}."
        )
    return BenchmarkConfig(
        name=name,
        format=format,
        path=None if path is None else folder / path,
        split=split,
        untouched_by=None if untouched_by is None else folder / untouched_by,
        corpus_metrics=together,
        limit=limit,
        retrieval=cast("Retrieval | None", retrieval),
        index=index if index in (POOL, "demo") else str(folder / index),
        settings=settings,
    )


def _systems(name: str, table: Table, shared: Mapping[str, Any]) -> list[SystemConfig]:
    """Make the systems of a table: one, or one for each combination of listed values."""
    kind = table.take("kind", str, name)
    try:
        system = find_system(kind)
    except ConfigurationError as error:
        raise ConfigurationError(f"{table.where}: {error}") from error
    own = table.some(_PLAIN | {"reader"} | set(system.options))
    table.nothing_else()
    for fixed, value in system.fixed.items():
        if own.get(fixed, value) != value:
            raise ConfigurationError(
                f"{table.where}: {fixed} = {own[fixed]!r} would make another system of "
                f"{system.kind!r}, which has {value!r}."
            )
    lists = {key: value for key, value in own.items() if isinstance(value, list)}
    for key, listed in lists.items():
        if not listed:
            raise ConfigurationError(f"{table.where}: {key} = [] makes no system: list a value.")
    made = []
    for values in product(*lists.values()):
        chosen = own | dict(zip(lists, values, strict=True))
        suffix = "".join(f"-{_NO_NAME.sub('_', str(value))}" for value in values)
        made.append(_system(name + suffix, system, chosen, shared, table.where))
    return made


def _system(
    name: str, system: System, own: Mapping[str, Any], shared: Mapping[str, Any], where: str
) -> SystemConfig:
    settings, given = dict(own), {**system.budget, **shared}
    options = {key: settings.pop(key, default) for key, default in system.options.items()}
    for key, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigurationError(f"{where}: {key} = {value!r} must be a number.")
    answerer = {**given, **settings}.get("answerer") or Context().answerer
    reader = settings.pop("reader", None) or given.pop("reader", None) or answerer
    if not isinstance(reader, str):
        raise ConfigurationError(f"{where}: reader = {reader!r} must name a model.")
    if not NAME.fullmatch(name):
        raise ConfigurationError(
            f"{where}: {name!r} is no good name for a system. Where a list of values made it, give "
            "each value a table of its own."
        )
    return SystemConfig(
        name=name, system=system, shared=given, settings=settings, reader=reader, options=options
    )


def _limits(table: Table) -> Limits:
    made = Limits(
        at_once=table.take("at_once", int, Limits.at_once),
        tokens=table.take("tokens", int, None),
        money=table.take("money", int | float, None),
    )
    table.nothing_else()
    _not_negative(table.where, tokens=made.tokens, money=made.money)
    if made.at_once < 1:
        raise ConfigurationError(f"{table.where}: at_once must be at least 1.")
    return made


def _price(table: Table) -> Price:
    made = Price(
        float(table.take("input", int | float, 0.0)), float(table.take("output", int | float, 0.0))
    )
    table.nothing_else()
    _not_negative(table.where, input=made.input, output=made.output)
    return made


def _not_negative(where: str, **numbers: float | None) -> None:
    """Refuse numbers with which no ceiling would ever be reached."""
    for name, number in numbers.items():
        if number is not None and not 0 <= number < math.inf:
            raise ConfigurationError(
                f"{where}: {name} = {number:g} must be a finite number of at least 0."
            )
