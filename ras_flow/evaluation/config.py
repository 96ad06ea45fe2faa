"""What is compared on what, read from a TOML file; its tables are in docs/evaluation.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.question import Retrieval
from ras_flow.evaluation.systems import EvalSystem, find_system
from ras_flow.settings.context import Context
from ras_flow.support.validation import (
    FilePath,
    NonNegative,
    Positive,
    Settings,
    checked,
    load_toml,
)

POOL = "pool"
"""Name of the index over the documents of all of a benchmark's questions."""

OWN = "own"
"""Stands for the graph of each question."""

DEMO = "demo"
"""Name of the index and of the graph that come with the package."""

_OF_BENCHMARKS = frozenset({"index", "task", "planning", "kg", "entities"})
"""Settings of a run that are a benchmark's."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}")
"""What benchmarks and systems may be called: names of files are made of it."""
_NO_NAME = re.compile(r"[^A-Za-z0-9_.+-]+")


class BenchmarkConfig(Settings):
    """Questions to be asked.

    Attributes:
        name: Their name in reports.
        format: A name of :mod:`ras_flow.evaluation.benchmarks`.
        path: Their file; None for ``demo``, the questions that come with the package.
        split: The part of the file to be taken.
        untouched_by: A mix of ``ras-flow data``; only questions of one of the parts that it keeps
            from training are asked.
        part: That part: ``"test"``, or ``"dev"`` for choosing among settings.
        limit: At most so many questions, drawn by the seed.
        unanswerable: Questions to ask beside these whose answer cannot be found: the file's own, or
            some whose gold documents are taken out of a pool.
        retrieval: Replaces the benchmark's own way.
        index: The corpus: a folder, ``"demo"``, or ``"pool"``.
        kg: The knowledge graph that systems search: a folder or engine, a file of triples,
            ``"demo"``, each question's ``"own"``, or the ``"pool"`` of these.
        entities: ``"given"`` or to be ``"linked"``; None for given where the file names them.
        answerable: Ask only questions whose graph has an answer (the "-sub" sets of papers).
        corpus_metrics: Judge all answers together too; None by what needs no model, as MAUVE does.
        settings: Values of :class:`ras_flow.Context` for it.
    """

    name: str
    format: str
    path: FilePath | None = None
    split: str | None = None
    untouched_by: FilePath | None = None
    part: Literal["dev", "test"] = "test"
    limit: Positive[int] | None = None
    unanswerable: NonNegative[int] = 0
    retrieval: Retrieval | None = None
    index: str = POOL
    kg: str | None = None
    entities: Literal["given", "linked"] | None = None
    answerable: bool = False
    corpus_metrics: bool | None = None
    settings: Mapping[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SystemConfig:
    """A system to be asked, and its settings.

    A benchmark's settings override the ``shared`` ones, and the system's own override both. Of
    ``shared`` and the benchmark's it takes those that it knows. The reader is a baseline's model.
    """

    name: str
    system: EvalSystem
    shared: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    reader: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> dict[str, str]:
        """The model of each role, as prices name them; a reader is the answerer's model."""
        if self.system.baseline:
            return dict.fromkeys(("planner", "answerer"), self.reader)
        context = self.context({})
        models = {role: getattr(context, role) for role in context.model_roles}
        return {**models, "reader": context.planner}

    def context(self, of_benchmark: Mapping[str, Any]) -> Context:
        """Return its settings where a benchmark has these."""
        kind = self.system.context
        common = {"when_unknown": "guess", **self.shared, **of_benchmark}
        known = {name: value for name, value in common.items() if name in kind.model_fields}
        return kind.from_mapping({**known, **self.settings, **self.system.fixed})


class Price(Settings):
    """What a model costs, for a million tokens, in any currency."""

    input: NonNegative[float] = 0.0
    output: NonNegative[float] = 0.0


class Limits(Settings):
    """Questions under way at once, and the cost at which no further question is begun."""

    at_once: Positive[int] = 4
    tokens: NonNegative[int] | None = None
    money: NonNegative[float] | None = None


@dataclass(frozen=True, kw_only=True)
class EvalConfig:
    """An evaluation; ``seed`` decides the questions drawn, shuffles and confidence intervals."""

    benchmarks: tuple[BenchmarkConfig, ...]
    systems: tuple[SystemConfig, ...]
    limits: Limits = Limits()
    prices: Mapping[str, Price] = field(default_factory=dict)
    seed: int = 13
    text: str = ""


class _File(Settings):
    seed: NonNegative[int] = 13
    models: Mapping[str, Any] = Field(default_factory=dict)
    settings: Mapping[str, Any] = Field(default_factory=dict)
    limits: Limits = Limits()
    prices: Mapping[str, Price] = Field(default_factory=dict)
    benchmarks: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    systems: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)


def read_config(path: Path) -> EvalConfig:
    """Read an evaluation from a TOML file."""
    tables = load_toml(path)
    return parse_config(tables, path.parent, path.name, path.read_text(encoding="utf-8"))


def parse_config(
    tables: Mapping[str, Any], folder: Path, where: str = "settings", text: str = ""
) -> EvalConfig:
    """Read an evaluation from the tables of a file in a folder."""
    given: _File = checked(_File, tables, where)
    shared = {**given.settings, **given.models}
    for key, value in shared.items():
        if isinstance(value, list):
            raise ConfigurationError(
                f"{where}: {key} = {value!r} is a list, which only a system's own table may have: "
                "it makes a system of each value."
            )
    systems = tuple(
        system
        for name, table in given.systems.items()
        for system in _systems(name, table, shared, f"{where}: systems: {name}")
    )
    contexts: set[type[Context]] = {Context, *(one.system.context for one in systems)}
    models = {"reader"}.union(*(one.model_roles for one in contexts))
    of_run = set[str]().union(*map(_settings_of, contexts)) - models
    _only(given.settings, of_run, f"{where}: settings")
    _only(given.models, models | {"base_url"}, f"{where}: models")
    made = EvalConfig(
        benchmarks=tuple(
            _benchmark(name, table, of_run | {"task"}, folder, f"{where}: benchmarks")
            for name, table in given.benchmarks.items()
        ),
        systems=systems,
        limits=given.limits,
        prices=given.prices,
        seed=given.seed,
        text=text,
    )
    _check(made, where)
    return made


def _check(made: EvalConfig, where: str) -> None:
    """Check what concerns several tables."""
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
            system.context(benchmark.settings)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: systems.{system.name}: {error}") from error
    if made.limits.money is not None and not made.prices:
        raise ConfigurationError(
            f'{where}: limits.money needs prices: [prices."MODEL"] with input and output.'
        )
    asked = {model for system in made.systems for model in system.models.values()}
    for name in sorted(made.prices):
        if name not in asked:
            raise ConfigurationError(
                f"{where}: prices: no system asks a model {name!r}. Write the name as the models "
                f"do: {', '.join(sorted(asked))}."
            )


def _benchmark(
    name: str, table: Mapping[str, Any], of_run: Collection[str], folder: Path, where: str
) -> BenchmarkConfig:
    _check_name(name, where)
    where = f"{where}: {name}"
    own = BenchmarkConfig.model_fields.keys() - {"name", "settings"}
    _only(table, {*of_run, *own}, where)
    values = {"format": name, **{key: value for key, value in table.items() if key in own}}
    values["settings"] = {key: value for key, value in table.items() if key in of_run}
    made: BenchmarkConfig = checked(BenchmarkConfig, {**values, "name": name}, where)
    if made.part == "dev" and made.untouched_by is None:
        raise ConfigurationError(f"{where}: part = 'dev' needs untouched_by, whose part it is.")
    files = {"path": made.path, "untouched_by": made.untouched_by}
    placed: dict[str, Any] = {key: folder / file for key, file in files.items() if file}
    if made.index not in (POOL, DEMO):
        placed["index"] = str(folder / made.index)
    if made.kg not in (None, POOL, OWN, DEMO):
        placed["kg"] = str(folder / made.kg)
    return made.override(placed)


def _systems(
    name: str, table: Mapping[str, Any], shared: Mapping[str, Any], where: str
) -> list[SystemConfig]:
    """Make the systems of a table: one, or one for each combination of listed values."""
    kind: str = checked(str, table.get("kind", name), f"{where}: kind")
    try:
        system = find_system(kind)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    _only(table, _settings_of(system.context) | {"kind", "reader", *system.options}, where)
    own = {key: value for key, value in table.items() if key != "kind"}
    for fixed, value in system.fixed.items():
        if own.get(fixed, value) != value:
            raise ConfigurationError(
                f"{where}: {fixed} = {own[fixed]!r} would make another system of {kind!r}, which "
                f"has {value!r}."
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
    name: str, system: EvalSystem, own: Mapping[str, Any], shared: Mapping[str, Any], where: str
) -> SystemConfig:
    settings, given = dict(own), {**system.budget, **shared}
    options = {
        key: checked(type(default), settings.pop(key, default), f"{where}: {key}", strict=True)
        for key, default in system.options.items()
    }
    answerer = {**given, **settings}.get("answerer") or system.context().answerer
    shared_reader = given.pop("reader", None)
    reader = checked(str, settings.pop("reader", None) or shared_reader or answerer, where)
    _check_name(name, where)
    return SystemConfig(
        name=name, system=system, shared=given, settings=settings, reader=reader, options=options
    )


def _settings_of(context: type[Context]) -> frozenset[str]:
    """Return the settings that a system may have here; nobody is there to answer its pauses."""
    own = context.model_fields.keys() - _OF_BENCHMARKS
    return frozenset(name for name in own if not name.startswith("pause_"))


def _check_name(name: str, where: str) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{where}: the name {name!r} cannot be used for files: use letters, digits and "
            "_ . + -. If a list of values made it, give each value a table of its own."
        )


def _only(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise ConfigurationError(
                f"{where}: unknown setting {key!r}. Known: {', '.join(sorted(known))}."
            )
