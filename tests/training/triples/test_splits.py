from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.errors import ConfigurationError
from ras_flow.formats.normalize import normalize_name
from ras_flow.training.splits import Splitter
from ras_flow.training.triples.config import DataSettings
from ras_flow.training.triples.data import limit, load_data, split, title_key
from ras_flow.training.triples.examples import Example
from tests.training.triples.samples import write_rows

TITLE = st.sampled_from([f"{name}{end}" for name in "ABCDEFGHKM" for end in ("", " (film)", "!")])
EXAMPLES = st.lists(
    st.builds(
        lambda title, text, complete, number: Example(
            str(number), "s", title, text, ((title or "Z", "is", "x"),), complete
        ),
        st.one_of(st.just(""), TITLE),
        st.sampled_from([f"Text {i}." for i in range(12)]),
        st.booleans(),
        st.integers(0, 10**9),
    ),
    max_size=40,
)


@given(EXAMPLES, st.integers(0, 50))
def test_no_title_and_no_text_is_on_two_sides(examples: list[Example], seed: int) -> None:
    parts = split(examples, dev=0.3, test=0.3, seed=seed, reserved=["K (song)"])
    sides = [parts.train, parts.dev, parts.test]
    assert Counter(example for side in sides for example in side) <= Counter(examples)
    assert all(example.complete for example in parts.dev + parts.test)
    for at, side in enumerate(sides):
        for other in sides[at + 1 :]:
            for key in (lambda e: title_key(e.title or "Z"), lambda e: normalize_name(e.text)):
                assert {key(e) for e in side}.isdisjoint(key(e) for e in other)
        assert not any(title_key(example.title or "Z") == "k" for example in side)


def test_pages_that_a_mix_keeps_for_testing_are_in_no_split(tmp_path: Path) -> None:
    texts = [
        {"title": f"T{n} (film)", "text": f"T{n} is a film.", "triples": [["a", "b", "c"]]}
        for n in range(9)
    ]
    questions = [{"question": f"What is {n}?", "support": [[f"T{n} (film)", 0]]} for n in range(5)]
    write_rows(tmp_path / "texts.jsonl", texts)
    write_rows(tmp_path / "questions.jsonl", questions)
    (tmp_path / "mix.toml").write_text('dev = 0.4\ntest = 0.5\nasked = ["questions.jsonl"]\n')
    stated = [
        row | {"docs": [{"title": f"T{n} (film)", "sents": ["T was made by Bo."]}],
               "triples": [[f"T{n} (film)", "director", "Bo"]]}
        for n, row in enumerate(questions)
    ]  # fmt: skip
    write_rows(tmp_path / "facts.jsonl", stated)
    settings = DataSettings(
        files=("texts.jsonl",), facts=("facts.jsonl",), apart_from=("mix.toml",)
    )
    data = load_data(settings, tmp_path)
    parts = data.splits
    splitter = Splitter(dev=0.4, test=0.5)
    kept = {
        f"T{n} (film)" for n, one in enumerate(questions) if splitter(one["question"]) != "train"
    }
    left = {example.title for example in (*parts.train, *parts.dev, *parts.test)}
    assert kept and left == {row["title"] for row in texts} - kept
    # Facts are measured there alone, so that others may be learnt from.
    assert {one.passage["title"] for one in data.facts} == kept


def test_more_data_moves_no_title() -> None:
    some = [Example(str(i), "s", f"T{i}", f"x{i}", (("a", "b", "c"),)) for i in range(200)]
    few, all_ = (split(part, dev=0.1, test=0.2, seed=1) for part in (some[:100], some))
    assert {e.id for e in few.test} <= {e.id for e in all_.test}
    assert 20 < len(all_.test) < 60 and 5 < len(all_.dev) < 40


def test_limits_keep_complete_examples_first_and_the_longest_name_counts() -> None:
    some = [
        Example(f"{source}{i}", source, "", "x", (), complete=i % 2 == 0)
        for source in ("dart-e2e", "dart-sql", "other")
        for i in range(6)
    ]
    kept = limit(some, {"dart": 4, "dart-e2e": 2}, seed=3)
    by_source = {s: [e for e in kept if e.source == s] for s in ("dart-e2e", "dart-sql", "other")}
    assert {source: len(found) for source, found in by_source.items()} == {
        "dart-e2e": 2,
        "dart-sql": 4,
        "other": 6,
    }
    assert all(example.complete for example in by_source["dart-e2e"])
    assert sum(example.complete for example in by_source["dart-sql"]) == 3
    assert limit(some, {"dart": 4, "dart-e2e": 2}, seed=3) == kept


def test_what_an_earlier_training_had_is_skipped() -> None:
    some = [Example(f"{i}", "dart-e2e", "", "x", (), complete=i % 2 == 0) for i in range(10)]
    earlier = limit(some, {"dart": 4}, seed=3)
    later = limit(some, {"dart": 3}, skip={"dart": 4}, seed=3)
    both = {example.id for example in limit(some, {"dart": 7}, seed=3)}
    assert {example.id for example in earlier + later} == both
    assert len(later) == 3 and len(both) == 7
    with pytest.raises(ConfigurationError, match=r"data\.skip names 'other'"):
        limit(some, {"dart": 3}, skip={"other": 1}, seed=3)
