"""Outputs that are kept: nothing is made twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.errors import InputError
from ras_flow.parts import Extraction
from ras_flow.state.schema import Passage
from ras_flow.state.schema import make_passage as passage
from ras_flow.training.triples.raw import AT_ONCE, Raw, extract_raw, read_raw
from tests.training.triples.samples import Worker


def half(passage: Passage) -> Extraction:
    return Extraction([(passage["text"], "is", "\u2028text")], ["cut"], "half", 3, 4)


MANY = [passage("T", f"Text {i}") for i in range(AT_ONCE + 2)]


async def test_an_interrupted_measurement_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "new" / "kept.jsonl"
    first = Worker(half, calls=2)  # the one that loads the model, and one
    with pytest.raises(KeyboardInterrupt):
        await extract_raw(first, MANY, file=file)
    assert len(read_raw(file)) == AT_ONCE
    with file.open("a") as lines:
        lines.write('{"passage": "cut o')
    second = Worker(half)
    made = await extract_raw(second, MANY, file=file)
    assert set(second.asked) == {f"Text {AT_ONCE}", f"Text {AT_ONCE + 1}"}
    assert list(made) == [p["id"] for p in MANY]
    assert made[MANY[0]["id"]].extraction == Extraction(
        [("Text 0", "is", "\u2028text")], ["cut"], "half", 3, 4
    )
    assert read_raw(file) == made
    third, before = Worker(half), file.stat().st_mtime_ns
    assert await extract_raw(third, MANY, file=file) == made
    assert third.asked == []
    # A kill while it is written again would lose hours of work.
    assert file.stat().st_mtime_ns == before


async def test_without_a_file_nothing_is_kept() -> None:
    made = await extract_raw(Worker(half), [MANY[0], MANY[0]])
    assert list(made) == [MANY[0]["id"]]
    assert await extract_raw(Worker(half), []) == {}


async def test_another_extractors_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    await extract_raw(Worker(half), MANY[:1], file=file)
    with pytest.raises(InputError, match="another extractor"):
        await extract_raw(Worker(half, identity="other"), MANY[:1], file=file)


async def test_failures_are_kept_only_as_figures(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"

    async def made(by: Worker, count: int) -> dict[str, Raw]:
        return await extract_raw(by, MANY[:count], file=file, timed=False, failures=False)

    await extract_raw(Worker(half), MANY[:1], file=file)
    good = Worker(lambda passage: Extraction([(passage["text"], "is", "text")]), identity="other")
    first = await made(good, 1)
    assert good.asked == ["Text 0"] and read_raw(file) == first, "the other made nothing good"
    second = await made(Worker(half, identity="other"), 2)
    assert second[MANY[1]["id"]].extraction.error == "half"
    assert read_raw(file) == first


@pytest.mark.parametrize(
    "text", ["", "x", "[]\n", '{"extractor": 1}\n{}\n', '{"extractor": ""}\n5\n', "\ud800"]
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match="does not hold"):
        read_raw(file)
