"""What to convert: a TOML file.

::

    seed = 13
    dev = 0.05
    test = 0.05
    base_model = "local:default"        # optional: tells what needs no retrieval
    max_triples = 4                     # optional: of a hop, for models that read so many
    answer_passages = 2                 # optional: of a hop, for answerers that read these too
    passages = [                        # optional: distractors, and better triples of known texts
      {file = "text_triples.jsonl.gz", only = ["wikiofgraph"]},
    ]

    [noise]                             # optional, see recipes.graph_llm.noise.Noise
    found = 0.85

    [[source]]
    file = "2wiki_evidence.jsonl.gz"    # relative to this file
    weight = 2.0                        # runs played on each training question, 0.5: every second
    max_records = 20000                 # of the training split; the others in proportion
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.support.paths import short_names
from ras_flow.support.ranges import NonNegative, Positive, check_ranges
from ras_flow.support.toml import read_section, read_toml
from ras_flow.training.splits import Split, Splitter
from recipes.graph_llm.noise import Noise


@dataclass(frozen=True)
class Source:
    """A data set.

    Attributes:
        file: Its path.
        kb: The knowledge graph that belongs to it (PathQuestion).
        weight: Runs for each training question.
        max_records: Records of the training split: no further question is taken once there are so
            many; None for all.
    """

    file: Path
    kb: Path | None = None
    weight: Positive[float] = 1.0
    max_records: Positive[int | None] = None


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
        max_triples: Triples of each hop that planner and answerer read, those nearest to its
            subquery, as :class:`ras_flow.Context` has it; None for all. What they do not read is
            not known: labels go by what is read.
        answer_passages: Passages of each hop that answers have beside the triples, as
            :class:`ras_flow.Context` has it. An answer then is also learnt where a fact is in a
            passage alone.
    """

    sources: tuple[Source, ...]
    passages: tuple[Passages, ...] = ()
    seed: NonNegative[int] = 13
    dev: float = 0.05
    test: float = 0.05
    noise: Noise = field(default_factory=Noise)
    base_model: str | None = None
    base_url: str | None = None
    as_text: bool = False
    max_triples: Positive[int | None] = None
    answer_passages: NonNegative[int] = 0

    def __post_init__(self) -> None:
        """Check what does not go together."""
        if self.as_text and self.max_triples is not None:
            raise ConfigurationError(
                "as_text writes whole passages, and max_triples chooses among triples. Leave one "
                "of them out."
            )
        if self.as_text and self.answer_passages:
            raise ConfigurationError(
                "as_text writes all passages, and answer_passages some beside the triples. Leave "
                "one of them out."
            )

    @property
    def splitter(self) -> Splitter:
        """Sends questions into splits."""
        return Splitter(seed=self.seed, dev=self.dev, test=self.test)

    @property
    def files(self) -> list[Path]:
        """All files that are read."""
        found = [source.file for source in self.sources]
        found += [passages.file for passages in self.passages]
        return found + [source.kb for source in self.sources if source.kb]

    def as_record(self) -> dict[str, Any]:
        """Return the settings as JSON-like data; of a path its name, the same on every machine."""
        names = short_names(self.files)
        record: dict[str, Any] = json.loads(json.dumps(asdict(self), default=names.__getitem__))
        return record

    def in_proportion(self, most: int, split: Split) -> int:
        """Return how many of a split go with so many of the training split, at least one."""
        share = {"dev": self.dev, "test": self.test}.get(split, 1 - self.dev - self.test)
        return max(1, round(most * share / (1 - self.dev - self.test)))


def load_config(path: Path) -> MixConfig:
    """Read a mix from a TOML file."""
    value, _ = read_toml(path)
    folder, where = path.parent, path.name
    if not value.get("source"):
        raise ConfigurationError(f"{where}: name at least one data set: [[source]] with a `file`.")

    def tables(kind: type, name: str) -> tuple[Any, ...]:
        given = value.pop(name, [])
        listed = given if isinstance(given, list) else [given]
        return tuple(read_section(kind, one, f"{where}: {name}", folder) for one in listed)

    made = {"sources": tables(Source, "source"), "passages": tables(Passages, "passages")}
    config: MixConfig = read_section(MixConfig, value, where, folder, made)
    try:
        check_ranges(config)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    config.splitter  # noqa: B018  its shares are checked when it is made
    return config
