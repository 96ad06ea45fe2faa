"""Training on rows of several tasks: JSON lines with ``task``, ``input``, ``output``, ``split``.

``source`` names where a row is from; the split ``test`` is left alone. What an input and an output
look like is settled by whoever writes the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ras_flow.datasets.reading import Row, read_rows
from ras_flow.errors import InputError
from ras_flow.training.run import Logger, Progress
from ras_flow.training.splits import SPLITS
from ras_flow.training.texts import training
from ras_flow.training.texts.config import RowTraining
from ras_flow.training.texts.encoding import Encoder


def train_rows(
    config: RowTraining,
    output: Path,
    *,
    data: Path = Path(),
    seconds: float | None = None,
    examples: int | None = None,
    log: Logger = lambda _: None,
) -> Progress:
    """Train a model on rows, or go on where an earlier call stopped."""

    def prepare(encoder: Encoder) -> training.Prepared:
        read = [row for name in config.data.files for row in read_rows(data / name)]
        parts = {split: [row for row in read if _split(row) == split] for split in SPLITS}
        first, most = config.data.skip, config.data.most
        some = list(_limited(parts["train"], config.data.most_of))
        parts["train"] = some[first : None if most is None else first + most]
        if not parts["train"]:
            raise InputError(
                f"No row of {', '.join(config.data.files)} is left to train on. Add rows with the "
                "split train, lower data.skip, or raise data.most_of."
            )
        parts["dev"] = parts["dev"][: config.data.watch]
        rows = {
            part: [
                made for row in parts[part][:examples] if (made := _encoded(row, config, encoder))
            ]
            for part in ("train", "dev")
        }
        return training.Prepared(rows, {part: _counts(some) for part, some in parts.items()})

    return training.train(
        config, output, prepare, _card, seconds=seconds, examples=examples, log=log
    )


def _limited(rows: Iterable[Row], most_of: Mapping[str, int]) -> Iterator[Row]:
    seen: Counter[str] = Counter()
    for row in rows:
        source = str(row.value.get("source"))
        seen[source] += 1
        if source not in most_of or seen[source] <= most_of[source]:
            yield row


def _encoded(row: Row, config: RowTraining, encoder: Encoder) -> dict[str, list[int]] | None:
    task, text = row.text("task"), row.text("input")
    if task not in config.tasks:
        row.fail("task", f"expected one of {', '.join(config.tasks)}, as the settings name them")
    return encoder(config.tasks[task], text, row.text("output")) if encoder.fits(text) else None


def _split(row: Row) -> str:
    if (split := row.text("split")) not in SPLITS:
        row.fail("split", f"expected one of {', '.join(SPLITS)}")
    return split


def _counts(rows: Iterable[Row]) -> dict[str, int]:
    named = Counter(
        f"{row.text('task')}: {row.text('source')}" if row.has("source") else row.text("task")
        for row in rows
    )
    return dict(sorted(named.items()))


def _card(record: Mapping[str, Any]) -> str:
    trained, settings = record["trained"], record["settings"]
    asked = "\n".join(f"- {task}: {text}" for task, text in record["instructions"].items())
    counted = "\n".join(
        f"- {part}: {', '.join(f'{name} {count}' for name, count in counts.items())}"
        for part, counts in trained["counts"].items()
    )
    return (
        f"# Adapter of {', '.join(record['instructions'])}\n\n"
        f"Trained from `{record['base']}` ({record['kind']}), with these instructions:\n\n"
        f"{asked}\n\n"
        f"{f'Begun with {began}. ' if (began := trained['began']) else ''}"
        f"{trained['examples']} examples, {trained['steps']} steps of "
        f"{settings['optimizer']['batch_size']} × {settings['optimizer']['accumulation']}, loss on "
        f"the rows for watching it {trained['dev_loss']}. Rows by part, task and source:\n\n"
        f"{counted}\n"
    )
