"""What to convert: a TOML file.

::

    seed = 13
    dev = 0.05
    test = 0.05
    base_model = "local:default"        # optional: tells what needs no retrieval
    passages = [                        # optional: distractors, and better triples of known texts
      {file = "text_triples.jsonl.gz", only = ["wikiofgraph"]},
    ]

    [noise]                             # optional, see ras_flow.training.data.rollout.Noise
    found = 0.85

    [[source]]
    file = "2wiki_evidence.jsonl.gz"    # relative to this file
    weight = 2.0                        # runs played on each training question, 0.5: every second
    max_records = 20000                 # of the training split; the others in proportion
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import inf
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.toml import read_toml
from ras_flow.training.data.records import Split
from ras_flow.training.data.rollout import Noise
from ras_flow.training.data.splits import Splitter


@dataclass(frozen=True)
class Source:
    """A data set.

    Attributes:
        file: Its path.
        kb: The knowledge graph that belongs to it (PathQuestion).
        weight: Runs for each training question.
        max_records: Records of the training split at most; None for all.
    """

    file: Path
    kb: Path | None = None
    weight: float = 1.0
    max_records: int | None = None


@dataclass(frozen=True)
class Passages:
    """A file of passages.

    Attributes:
        file: Its path.
        only: Values of ``src`` that are used; all if empty.
    """

    file: Path
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class MixConfig:
    """All settings of a mix.

    Attributes:
        sources: The data sets, in order of preference where two have the same input.
        passages: Files of passages.
        seed: Everything that is random follows from it.
        dev: Share of the questions for development.
        test: Share of the questions for testing.
        noise: How the simulated parts fail.
        base_model: Name of the model that attempts questions without retrieval; None for no
            [NO_RETRIEVAL].
        base_url: Its server, where it is not the provider's own.
        as_text: Write passages instead of triples, to train without text-to-triples.
    """

    sources: tuple[Source, ...]
    passages: tuple[Passages, ...] = ()
    seed: int = 13
    dev: float = 0.05
    test: float = 0.05
    noise: Noise = field(default_factory=Noise)
    base_model: str | None = None
    base_url: str | None = None
    as_text: bool = False

    @property
    def splitter(self) -> Splitter:
        """Sends questions into splits."""
        return Splitter(self.seed, self.dev, self.test)

    def in_proportion(self, most: int, split: Split) -> int:
        """Return how many of a split go with so many of the training split, at least one."""
        share = {"dev": self.dev, "test": self.test}.get(split, 1 - self.dev - self.test)
        return max(1, round(most * share / (1 - self.dev - self.test)))


def load_config(path: Path) -> MixConfig:
    """Read a mix from a TOML file.

    Args:
        path: The file; paths in it are relative to its folder.

    Returns:
        The settings.

    Raises:
        ConfigurationError: It cannot be read, or a setting is unknown or wrong; the message names
            it.
    """
    value, _ = read_toml(path)
    return parse_config(value, path.parent, path.name)


def parse_config(value: Mapping[str, Any], folder: Path, where: str) -> MixConfig:
    """Read a mix from a mapping.

    Args:
        value: The settings.
        folder: What paths are relative to.
        where: Names the mapping, for error messages.

    Returns:
        The settings.

    Raises:
        ConfigurationError: A setting is unknown or wrong.
    """
    if not value.get("source"):
        raise ConfigurationError(f"{where}: name at least one data set: [[source]] with a `file`.")
    sources = [_section(Source, item, folder, f"{where}: source") for item in _all(value, "source")]
    passages = [
        _section(Passages, item, folder, f"{where}: passages") for item in _all(value, "passages")
    ]
    rest = {name: part for name, part in value.items() if name not in ("source", "passages")}
    made = {
        "sources": tuple(sources),
        "passages": tuple(passages),
        "noise": _section(Noise, rest.pop("noise", {}), folder, f"{where}: noise"),
    }
    config: MixConfig = _section(MixConfig, rest, folder, where, made)
    _check(config, where)
    return config


_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "Path": (str,),
    "tuple": (list,),
}


def _section(
    kind: Any, value: Any, folder: Path, where: str, made: dict[str, Any] | None = None
) -> Any:
    """Make a dataclass of a table, with each value of the field's type."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"{where}: must be a table.")
    settings: dict[str, Any] = dict(made or {})
    known = {item.name: str(item.type) for item in fields(kind) if item.name not in settings}
    for name, given in value.items():
        if name not in known:
            raise ConfigurationError(
                f"{where}: there is no setting {name!r}. There are: {', '.join(sorted(known))}."
            )
        settings[name] = _setting(given, known[name], folder, f"{where}: {name}")
    if "file" in known and "file" not in settings:
        raise ConfigurationError(f"{where}: `file` is missing.")
    return kind(**settings)


def _setting(given: Any, wanted: str, folder: Path, where: str) -> Any:
    wanted = wanted.partition(" |")[0].partition("[")[0]
    fits = isinstance(given, _TYPES[wanted]) and isinstance(given, bool) == (wanted == "bool")
    if not fits:
        raise ConfigurationError(f"{where} = {given!r} is no {wanted}.")
    if wanted == "tuple":
        return tuple(str(item) for item in given)
    return folder / given if wanted == "Path" else given


def _all(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name, [])
    return found if isinstance(found, list) else [found]


def _check(config: MixConfig, where: str) -> None:
    for source in config.sources:
        if not 0 < source.weight < inf:
            raise ConfigurationError(f"{where}: weight = {source.weight} must be a number over 0.")
        if source.max_records is not None and source.max_records < 1:
            raise ConfigurationError(f"{where}: max_records = {source.max_records} must be over 0.")
    noise = config.noise
    for item in fields(Noise):
        number = getattr(noise, item.name)
        if item.type == "int" and number < 1:
            raise ConfigurationError(f"{where}: noise.{item.name} = {number} must be at least 1.")
        if item.type == "float" and not 0 <= number <= 1:
            raise ConfigurationError(f"{where}: noise.{item.name} = {number} is no probability.")
    config.splitter  # noqa: B018  its shares are checked when it is made
