"""What an extractor made of texts, kept as it was made: figures can be had of it again and again.

A file of JSON lines, the extractor's identity first, then one text a line. It grows while the
extractor works, so that an interrupted measurement goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ras_flow.datasets.facts import FactPassage
from ras_flow.errors import InputError
from ras_flow.formats.quality import RULES, Rule, refine
from ras_flow.parts.protocols import Extractor
from ras_flow.parts.records import Extraction
from ras_flow.state.schema import Passage, make_passage
from ras_flow.support.concurrency import to_its_end
from ras_flow.support.files import whole_lines, writing
from ras_flow.training.triples.examples import Example

AT_ONCE = 32
"""Texts in one call of the extractor, or a batch of it; what is made of them is kept together."""


@dataclass(frozen=True)
class Raw:
    """What an extractor made of a text.

    Attributes:
        extraction: As the extractor returned it.
        seconds: Its share of the time that its call took.
    """

    extraction: Extraction
    seconds: float = 0.0


def passage_of(example: Example) -> Passage:
    """Return the passage that an extractor is given for an example."""
    return make_passage(example.title, example.text)


def passages_of(examples: Iterable[Example], facts: Iterable[FactPassage]) -> list[Passage]:
    """Return the passages of the untouched part, then those with answer-bearing facts."""
    return [*map(passage_of, examples), *(stated.passage for stated in facts)]


def refined(
    extraction: Extraction, passage: Passage, rules: Mapping[str, Rule] = RULES
) -> Extraction:
    """Return an extraction with the triples that enter the graph."""
    kept = refine(extraction.triples, passage["title"], passage["text"], rules)
    return replace(extraction, triples=kept.triples)


async def extract_raw(
    extractor: Extractor,
    passages: Sequence[Passage],
    *,
    file: Path | None = None,
    timed: bool = True,
    failures: bool = True,
    log: Callable[[str], None] = lambda _: None,
) -> dict[str, Raw]:
    """Extract passages, but those that a file has already."""
    known = await asyncio.to_thread(_open, file, extractor.identity, failures) if file else {}
    missing = list({p["id"]: p for p in passages if p["id"] not in known}.values())
    if missing and timed:
        await extractor.extract(missing[:1])
    step = max(AT_ONCE, extractor.batch_size)
    for start in range(0, len(missing), step):
        some = missing[start : start + step]
        began = time.monotonic()
        extractions = await extractor.extract(some)
        share = (time.monotonic() - began) / len(some)
        made = {p["id"]: Raw(e, share) for p, e in zip(some, extractions, strict=True)}
        if file:
            kept = made if failures else _good(made)
            await to_its_end(asyncio.to_thread(_append, file, kept))
        known |= made
        log(f"{len(missing[: start + step])} of {len(missing)} texts")
    return {passage["id"]: known[passage["id"]] for passage in passages}


def read_raw(file: Path) -> dict[str, Raw]:
    """Read what :func:`extract_raw` kept."""
    return _read(file)[1]


def _read(file: Path) -> tuple[str, dict[str, Raw]]:
    try:
        head, *lines = file.read_text(encoding="utf-8").splitlines(keepends=True) or [""]
        extractor = json.loads(head)["extractor"]
        found = {}
        for line in lines:
            if line.endswith("\n"):  # One that was cut off by a kill is made again.
                row = json.loads(line)
                seconds, id = row.pop("seconds"), row.pop("passage")
                row["triples"] = [(s, p, o) for s, p, o in row["triples"]]
                found[id] = Raw(Extraction(**row), seconds)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{file} does not hold the output of an extractor. Name a file that "
            "`ras-flow train measure-triples` wrote, or remove this one."
        ) from error
    return extractor, found


def _open(file: Path, extractor: str, failures: bool) -> dict[str, Raw]:
    """Read what there is of an extractor, and make the file ready for more."""
    with writing(file):
        lines = whole_lines(file)
    by, found = _read(file) if lines else ("", {})
    if not failures:
        found = _good(found)
    if by == extractor:
        return found
    if found:
        raise InputError(
            f"{file} holds the output of another extractor ({by}, not {extractor}). Name another "
            "folder, or remove this file."
        )
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"extractor": extractor}) + "\n", encoding="utf-8")
    return {}


def _good(made: Mapping[str, Raw]) -> dict[str, Raw]:
    return {id: raw for id, raw in made.items() if raw.extraction.error is None}


def _append(file: Path, made: Mapping[str, Raw]) -> None:
    with file.open("a", encoding="utf-8") as lines:
        for id, raw in made.items():
            row = {"passage": id, **asdict(raw.extraction), "seconds": raw.seconds}
            lines.write(json.dumps(row) + "\n")
