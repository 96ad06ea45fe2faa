"""``ras-flow data supervise``: questions on graphs to labels that retrievers learn from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from ras_flow.errors import InputError
from ras_flow.formats.normalize import normalize_name
from ras_flow.support.concurrency import in_order
from ras_flow.support.files import checksum, whole_file, write_whole
from ras_flow.support.validation import FilePath, NonNegative, Settings, Share, read_toml
from ras_flow.training.data.writer import Progress, check_folder
from ras_flow.training.lock import writer_lock
from ras_flow.training.retriever.graphs import Graph, read_graph, write_graph
from ras_flow.training.retriever.labels import Label, Options, label, quality
from ras_flow.training.retriever.questions import Asked, Labelled, read_questions
from ras_flow.training.retriever.refining import Refiner
from ras_flow.training.splits import SPLITS, Split, Splitter, fraction

CARD = "labels.json"


class SetSettings(Settings):
    """Questions (see :mod:`.questions`) and their graphs; a ``refiner`` of its own goes first."""

    name: Annotated[str, Field(pattern=r"^[\w-]+$")]
    questions: FilePath
    graphs: Mapping[str, FilePath]
    refiner: Literal["gold", "none", ""] = ""


class Mix(Splitter, Options):
    """What is labelled, and how: a TOML file; paths in it are relative to it.

    Attributes:
        share: Part of each set's training questions.
        most: Questions of each split of a set, at most; 0 for all.
    """

    dev: Share[float] = 0.1
    test: Share[float] = 0.2
    sets: Annotated[tuple[SetSettings, ...], Field(strict=False, min_length=1)]
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    most: NonNegative[int] = 0

    def split(self, asked: Asked) -> Split:
        """Return a question's split: that of its group, by default its first entity."""
        return self.of(normalize_name(asked.get("group", asked["entities"][0])))


async def supervise(
    file: Path,
    folder: Path,
    refiner: Refiner | Literal["gold", "none"],
    progress: Progress | None,
    *,
    at_once: int = 8,
) -> dict[str, Any]:
    """Label a mix into a folder; return its card."""
    mix = read_toml(file, Mix)
    check_labels_folder(folder)
    cut = 0
    inputs, refiners, left_out = {}, {}, Counter[str]()
    labels: dict[str, list[Any]] = {}
    with writer_lock(folder / CARD), ExitStack() as stack:
        (folder / "graphs").mkdir(parents=True, exist_ok=True)
        files = {one: stack.enter_context(whole_file(folder / f"{one}.jsonl")) for one in SPLITS}
        for one in mix.sets:
            graphs = {name: read_graph(file.parent / path) for name, path in one.graphs.items()}
            for name, graph in graphs.items():
                write_graph(folder / "graphs" / f"{one.name}.{name}.tsv", graph)
            used = one.refiner or refiner
            inputs[one.name] = checksum(file.parent / one.questions)
            refiners[one.name] = getattr(used, "name", used)
            questions = _kept(mix, one, file.parent)

            async def work(
                asked: Asked, graphs: Mapping[str, Graph] = graphs, used: Any = used
            ) -> Label | str:
                if asked["graph"] not in graphs:
                    raise InputError(f"{asked['id']}: the mix names no graph {asked['graph']!r}.")
                return await label(asked, graphs[asked["graph"]], used, mix)

            async with aclosing(in_order(work, questions, at_once)) as made:
                done = 0
                async for asked, got in made:
                    done += 1
                    split = mix.split(asked)
                    part = f"{one.name}/{split}"
                    if isinstance(got, Label):
                        cut += got.cut
                        labels.setdefault(part, []).append((got.positives, asked.get("gold", ())))
                        record = _record(asked, one.name, split, got)
                        files[split].write(json.dumps(record, ensure_ascii=False) + "\n")
                    if isinstance(got, str) or got.weak:
                        left_out[f"{part}: {got if isinstance(got, str) else 'kept weak'}"] += 1
                    if progress:
                        progress(f"labelling {one.name}", done, len(questions))
        value = {
            "refiner": getattr(refiner, "name", refiner),
            "refiners": refiners,
            "records": {part: len(pairs) for part, pairs in labels.items()},
            "against_gold": {part: quality(pairs) for part, pairs in labels.items()},
            "not_refined": dict(left_out),
            "cut": cut,
            "sha256": inputs,
            "settings": mix.model_dump(mode="json"),
        }
    write_whole(folder / CARD, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    return value


def check_labels_folder(folder: Path) -> None:
    """Check before any work that labels can be written to a folder."""
    check_folder(folder, (CARD, "store.sqlite"))


def _kept(mix: Mix, one: SetSettings, base: Path) -> list[Asked]:
    """Return the questions to label, in an order that the seed decides."""
    kept: dict[Split, list[Asked]] = {split: [] for split in SPLITS}
    for question in read_questions(base / one.questions):
        split = mix.split(question)
        if split != "train" or fraction(mix.seed, "share", question["id"]) < mix.share:
            kept[split].append(question)
    for some in kept.values():
        some.sort(key=lambda one: fraction(mix.seed, "order", one["id"]))
    return [question for some in kept.values() for question in some[: mix.most or None]]


def _record(asked: Asked, source: str, split: Split, got: Label) -> Labelled:
    graph = f"{source}.{asked['graph']}"
    made: Any = {**asked, "graph": graph, "source": source, "split": split}
    made |= {"positives": got.positives, "paths": got.paths}
    return cast(Labelled, made | ({"weak": True} if got.weak else {}))
