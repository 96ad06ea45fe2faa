"""What to convert: a TOML file.

::

    seed = 13
    dev = 0.05
    test = 0.05
    dev_from = 0.02                     # optional: the `test` of an earlier split, which has grown
    asked = ["2wiki_ctx.jsonl.gz"]      # optional: training shares no page with its dev and test
    give_up = 2                         # optional: [NOT FOUND] after so many searches for one fact
    max_triples = 4                     # optional: of a hop, for models that read so many
    answer_passages = 2                 # optional: of a hop, for answerers that read these too
    passages = [                        # optional: distractors, and better triples of known texts
      {file = "text_triples.jsonl.gz", only = ["wikiofgraph"]},
    ]

    [noise]                             # optional, see recipes.graph_llm.noise.Noise
    found = 0.85

    [[source]]
    file = "2wiki_evidence.jsonl.gz"    # relative to this file
    weight = 2.0                        # runs on each training question, 0.5: every second
    max_records = 20000                 # of the training split; the others in proportion
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from ras_flow.support.paths import expanded
from ras_flow.support.validation import (
    FilePath,
    NonNegative,
    Positive,
    Settings,
    Texts,
    read_toml,
)
from ras_flow.training.data.writer import short_names
from ras_flow.training.splits import Split, Splitter, fraction
from recipes.graph_llm.case import Case
from recipes.graph_llm.noise import Noise


class Source(Settings):
    """A data set.

    Attributes:
        file: Its path.
        kb: The knowledge graph that belongs to it (PathQuestion).
        weight: Runs for each training question.
        max_records: Records of the training split: no further question is taken once there are so
            many; None for all.
    """

    file: FilePath
    kb: FilePath | None = None
    weight: Positive[float] = 1.0
    max_records: Positive[int] | None = None

    def runs(self, case: Case, seed: int, split: Split) -> int:
        """Return how many runs a question has: one at most for what is not trained on."""
        weight = self.weight if split == "train" else min(self.weight, 1.0)
        return int(weight) + (fraction(seed, "runs", case.source, case.id) < weight % 1)


class Passages(Settings):
    """A file of passages; of these only those whose ``src`` is named, if any is."""

    file: FilePath
    only: Texts = ()


class MixConfig(Splitter):
    """All settings of a mix, which also sends its questions into splits.

    Attributes:
        sources: The data sets, in order of preference where two have the same input.
        passages: Files of passages.
        seed: Decides all that is random.
        asked: Files whose dev and test questions an evaluation asks. Training leaves out what
            shares a gold page with these; elsewhere dev and test leave out what shares one with
            training.
        known: Questions that the base model answers by itself, as `recipes attempt` writes them:
            their only plan is [NO_RETRIEVAL].
        give_up: Searches for one fact after which it is not asked for again; where nothing else is
            left to ask, the plan is [NOT FOUND]. None: other words are asked for as long as any are
            known, and then nothing is recorded.
        noise: How the simulated parts fail.
        as_text: Write passages instead of triples, to train without text-to-triples.
        max_triples: Triples of each hop that planner and answerer read, those nearest to its
            subquery, as :class:`ras_flow.Context` has it; None for all. A fact that is not among
            them counts as not found.
        answer_passages: Passages of each hop that answers have beside the triples, as
            :class:`ras_flow.Context` has it. An answer then is also learnt where a fact is in a
            passage alone.
    """

    model_config = ConfigDict(populate_by_name=True)

    sources: Annotated[tuple[Source, ...], Field(alias="source", strict=False, min_length=1)]
    passages: Annotated[tuple[Passages, ...], Field(strict=False)] = ()
    seed: NonNegative[int] = 13
    asked: Annotated[tuple[FilePath, ...], Field(strict=False)] = ()
    known: FilePath | None = None
    give_up: Positive[int] | None = None
    noise: Noise = Noise()
    as_text: bool = False
    max_triples: Positive[int] | None = None
    answer_passages: NonNegative[int] = 0

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.as_text and (self.max_triples is not None or self.answer_passages):
            raise ValueError(
                "as_text writes all passages and no triples, so max_triples and answer_passages "
                "choose nothing. Leave either out."
            )
        return self

    @property
    def files(self) -> list[Path]:
        """All files that are read."""
        found = [source.file for source in self.sources]
        found += [*self.asked, *(passages.file for passages in self.passages)]
        found += [self.known] if self.known else []
        return found + [source.kb for source in self.sources if source.kb]

    def as_record(self) -> dict[str, Any]:
        """Return the settings as JSON-like data; of a path its name, the same on every machine."""
        names = short_names(self.files)
        record: dict[str, Any] = json.loads(
            json.dumps(self.model_dump(), default=names.__getitem__)
        )
        return record

    def in_proportion(self, most: int, split: Split) -> int:
        """Return how many of a split go with so many of the training split, at least one."""
        share = {"dev": self.dev, "test": self.test}.get(split, 1 - self.dev - self.test)
        return max(1, round(most * share / (1 - self.dev - self.test)))


def load_config(path: Path) -> MixConfig:
    """Read a mix from a TOML file; its paths are relative to the file's folder."""
    config = read_toml(path, MixConfig)

    def placed(one: Settings) -> dict[str, Path]:
        named = {name: getattr(one, name, None) for name in ("file", "kb")}
        return {name: path.parent / expanded(str(file)) for name, file in named.items() if file}

    return config.override(
        {
            "sources": tuple(one.override(placed(one)) for one in config.sources),
            "passages": tuple(one.override(placed(one)) for one in config.passages),
            "asked": tuple(path.parent / expanded(str(file)) for file in config.asked),
            "known": config.known and path.parent / expanded(str(config.known)),
        }
    )
