"""An evaluation's settings, from TOML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.config import (
    POOL,
    BenchmarkConfig,
    EvalConfig,
    Limits,
    Price,
    SystemConfig,
)
from ras_flow.evaluation.systems import System, find_system
from ras_flow.settings.context import MODEL_ROLES, PAUSES, Context
from ras_flow.support.ranges import NonNegative, check_ranges
from ras_flow.support.toml import read_section, read_toml

_MODELS = frozenset({*MODEL_ROLES, "reader"})
_SETTINGS = Context.model_fields.keys() - {"index", "task", "planning", *PAUSES}
"""Settings of a run, but for those that are a benchmark's or a person's."""
_OF_BENCHMARK = _SETTINGS - _MODELS | {"task"}
_OWN = {item.name for item in fields(BenchmarkConfig)} - {"name", "settings"}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}")
"""What benchmarks and systems may be called: names of files are made of it."""
_NO_NAME = re.compile(r"[^A-Za-z0-9_.+-]+")


@dataclass(frozen=True)
class _Tables:
    """The tables of the file; those without a form of their own are read one by one."""

    seed: NonNegative[int] = 13
    models: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = Limits()
    prices: Mapping[str, Price] = field(default_factory=dict)
    benchmarks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    systems: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_config(path: Path) -> EvalConfig:
    """Read an evaluation from a TOML file."""
    tables, text = read_toml(path)
    return parse_config(tables, path.parent, path.name, text)


def parse_config(
    tables: Mapping[str, Any], folder: Path, where: str = "settings", text: str = ""
) -> EvalConfig:
    """Read an evaluation from a mapping; see :func:`read_config`."""
    given: _Tables = read_section(_Tables, tables, where)
    _ranges(given, where)
    for model, price in sorted(given.prices.items()):
        _ranges(price, f"{where}: prices: {model}")
    _only(given.settings, _SETTINGS - _MODELS, f"{where}: settings")
    _only(given.models, _MODELS | {"base_url"}, f"{where}: models")
    shared = {**given.settings, **given.models}
    for key, value in shared.items():
        if isinstance(value, list):
            raise ConfigurationError(
                f"{where}: {key} = {value!r} lists values for all systems: give one here, and the "
                "list to a system's own table, where it makes a system of each."
            )
    made = EvalConfig(
        benchmarks=tuple(
            _benchmark(name, table, folder, f"{where}: benchmarks")
            for name, table in given.benchmarks.items()
        ),
        systems=tuple(
            system
            for name, table in given.systems.items()
            for system in _systems(name, table, shared, f"{where}: systems: {name}")
        ),
        limits=given.limits,
        prices=given.prices,
        seed=given.seed,
        text=text,
    )
    _check(made, where)
    return made


def _check(made: EvalConfig, where: str) -> None:
    """Check what single tables do not tell."""
    if not made.benchmarks or not made.systems:
        raise ConfigurationError(
            f"{where}: name at least one benchmark and one system: [benchmarks.NAME], "
            "[systems.NAME]."
        )
    name, times = Counter(system.name for system in made.systems).most_common(1)[0]
    if times > 1:
        raise ConfigurationError(f"{where}: two systems are called {name!r}.")
    for benchmark, system in product(made.benchmarks, made.systems):
        try:
            made.context(benchmark, system)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: systems.{system.name}: {error}") from error
    limits = made.limits
    if limits.money is not None and not made.prices:
        raise ConfigurationError(
            f'{where}: limits.money needs prices: [prices."MODEL"] with input and output.'
        )
    asked = {model for system in made.systems for model in system.models.values()}
    for name in sorted(made.prices):
        if name not in asked:
            raise ConfigurationError(
                f"{where}: prices: no system asks a model {name!r}. Write the name as it is "
                f"written among the models; asked are {', '.join(sorted(asked))}."
            )


def _benchmark(name: str, table: Mapping[str, Any], folder: Path, where: str) -> BenchmarkConfig:
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{where}: {name!r} is no good name: use letters, digits and _ . + -"
        )
    where = f"{where}: {name}"
    _only(table, _OWN | _OF_BENCHMARK, where)
    own = {key: value for key, value in table.items() if key in _OWN}
    settings = {key: value for key, value in table.items() if key in _OF_BENCHMARK}
    made: BenchmarkConfig = read_section(
        BenchmarkConfig,
        {"format": name, **own},
        where,
        folder,
        {"name": name, "settings": settings},
    )
    if made.part == "dev" and made.untouched_by is None:
        raise ConfigurationError(f"{where}: part = 'dev' needs untouched_by, whose part it is.")
    _ranges(made, where)
    if made.index in (POOL, "demo"):
        return made
    return replace(made, index=str(folder / made.index))


def _systems(
    name: str, table: Mapping[str, Any], shared: Mapping[str, Any], where: str
) -> list[SystemConfig]:
    """Make the systems of a table: one, or one for each combination of listed values."""
    kind = table.get("kind", name)
    if not isinstance(kind, str):
        raise ConfigurationError(f"{where}: kind = {kind!r} must be a text.")
    try:
        system = find_system(kind)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    _only(table, _SETTINGS | {"kind", "reader", *system.options}, where)
    own = {key: value for key, value in table.items() if key != "kind"}
    for fixed, value in system.fixed.items():
        if own.get(fixed, value) != value:
            raise ConfigurationError(
                f"{where}: {fixed} = {own[fixed]!r} would make another system of "
                f"{system.kind!r}, which has {value!r}."
            )
    lists = {key: value for key, value in own.items() if isinstance(value, list)}
    for key, listed in lists.items():
        if not listed:
            raise ConfigurationError(f"{where}: {key} = [] makes no system: list a value.")
    made = []
    for values in product(*lists.values()):
        chosen = own | dict(zip(lists, values, strict=True))
        suffix = "".join(f"-{_NO_NAME.sub('_', str(value))}" for value in values)
        made.append(_system(name + suffix, system, chosen, shared, where))
    return made


def _system(
    name: str, system: System, own: Mapping[str, Any], shared: Mapping[str, Any], where: str
) -> SystemConfig:
    settings, given = dict(own), {**system.budget, **shared}
    options = {key: settings.pop(key, default) for key, default in system.options.items()}
    for key, value in options.items():
        kind = str if isinstance(system.options[key], str) else int | float
        if isinstance(value, bool) or not isinstance(value, kind):
            what = "a text" if kind is str else "a number"
            raise ConfigurationError(f"{where}: {key} = {value!r} must be {what}.")
    answerer = {**given, **settings}.get("answerer") or Context().answerer
    shared_reader = given.pop("reader", None)
    reader = settings.pop("reader", None) or shared_reader or answerer
    if not isinstance(reader, str):
        raise ConfigurationError(f"{where}: reader = {reader!r} must name a model.")
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{where}: {name!r} is no good name for a system: use letters, digits and _ . + -. "
            "Where a list of values made it, give each value a table of its own."
        )
    return SystemConfig(
        name=name, system=system, shared=given, settings=settings, reader=reader, options=options
    )


def _only(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    """Refuse unknown settings."""
    for key in table:
        if key not in known:
            raise ConfigurationError(f"{where}: there is no setting {key!r} here.")


def _ranges(settings: object, where: str) -> None:
    """Refuse numbers with which, for one, no ceiling would ever be reached."""
    try:
        check_ranges(settings)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error
