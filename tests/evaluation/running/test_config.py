"""Settings: what they mean, and what is said of wrong ones."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.config import EvalConfig, Price, parse_config, read_config
from ras_flow.evaluation.loading import load_questions
from ras_flow.training.splits import Splitter

GOOD = """
seed = 7
[models]
planner = "openai:big"
answerer = "openai:big"
extractor = "local:default"
[settings]
top_k = 4
max_hops = 3
[limits]
at_once = 2
money = 5
[prices."openai:big"]
input = 0.5
output = 2.0
[benchmarks.dev]
format = "jsonl"
path = "dev.jsonl"
limit = 10
index = "corpus"
[benchmarks.demo]
index = "demo"
top_k = 3
[systems.ras]
[systems.single]
top_k = [1, 5]
[systems.swap]
kind = "ras"
planner = "openai:other"
[systems.react]
reader = "openai:small"
max_hops = 9
[systems.ras_no_retrieval]
"""


def parse(text: str) -> EvalConfig:
    return parse_config(tomllib.loads(text), Path("folder"), "eval.toml", text)


def test_settings_are_merged_from_the_general_to_the_particular(tmp_path: Path) -> None:
    (tmp_path / "eval.toml").write_text(GOOD)
    config = read_config(tmp_path / "eval.toml")
    dev, demo = config.benchmarks
    assert (dev.path, dev.index) == (tmp_path / "dev.jsonl", str(tmp_path / "corpus"))
    assert (demo.path, demo.format, demo.index) == (None, "demo", "demo")
    assert config.prices == {"openai:big": Price(input=0.5, output=2.0)}
    by_name = {system.name: system for system in config.systems}
    assert list(by_name) == ["ras", "single-1", "single-5", "swap", "react", "ras_no_retrieval"]
    contexts = {name: system.context(dev.settings) for name, system in by_name.items()}
    assert [contexts[name].top_k for name in ("ras", "single-1", "single-5")] == [4, 1, 5]
    assert [contexts[name].max_hops for name in ("ras", "react", "ras_no_retrieval")] == [3, 9, 0]
    own = {name: system.context(demo.settings).top_k for name, system in by_name.items()}
    assert [own[name] for name in ("ras", "single-1", "single-5")] == [3, 1, 5]
    assert (contexts["swap"].planner, contexts["swap"].answerer) == ("openai:other", "openai:big")
    assert (by_name["react"].reader, by_name["single-1"].reader) == ("openai:small", "openai:big")


def test_a_list_of_values_makes_a_system_of_each_combination() -> None:
    config = parse(
        '[benchmarks.demo]\n[systems.s]\nkind = "ras_share"\nshare = [0.1, 0.5]\nshuffle = [1, 2]\n'
    )
    models = parse('[benchmarks.demo]\n[systems.ras]\nanswerer = ["openai:a", "local:b/c"]\n')
    assert [(one.name, one.models["answerer"]) for one in models.systems] == [
        ("ras-openai_a", "openai:a"),
        ("ras-local_b_c", "local:b/c"),
    ]
    assert [(one.name, dict(one.options)) for one in config.systems] == [
        ("s-0.1-1", {"share": 0.1, "shuffle": 1}),
        ("s-0.1-2", {"share": 0.1, "shuffle": 2}),
        ("s-0.5-1", {"share": 0.5, "shuffle": 1}),
        ("s-0.5-2", {"share": 0.5, "shuffle": 2}),
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("top_k = 4", "topk = 4", "settings.*'topk'"),
        ("top_k = 4", "top_k = 0", "top_k"),
        ("top_k = 4", 'index = "x"', "'index'"),
        ("top_k = 4", "pause_after_merge = true", "'pause_after_merge'"),
        ("seed = 7", "seed = -1", "seed"),
        ("limit = 10", "limit = 0", "dev.*limit"),
        ("limit = 10", 'limit = "all"', "dev.*limit.*'all'"),
        ("limit = 10", 'retrieval = "web"', "given_first.*'web'"),
        ("limit = 10", 'part = "dev"', "untouched_by"),
        ('kind = "ras"', 'kind = "magic"', "swap.*'magic'"),
        ('kind = "ras"', "kind = 3", "swap: kind"),
        ("[systems.ras]", '[systems."../x"]\nkind = "ras"', r"'\.\./x'"),
        ("[systems.ras]", '[systems.single-1]\nkind = "ras"', "two systems.*'single-1'"),
        ("[systems.ras_no_retrieval]", "[systems.ras_no_retrieval]\nmax_hops = 2", "max_hops"),
        ("max_hops = 9", "share = 0.5", "react.*'share'"),
        ("max_hops = 9", "max_hops = []", "max_hops"),
        ("at_once = 2", "at_once = 0", "limits.at_once"),
        ("at_once = 2", "at_once = 2\ntokens = -1", "limits.tokens"),
        ('[prices."openai:big"]\ninput = 0.5\noutput = 2.0', "", "limits.money"),
        ('prices."openai:big"', 'prices."big"', "'big'.*openai:big"),
        ("[models]", "[model]", "'model'"),
        ("[models]", '[models]\nreader = ["a:b", "a:c"]', "reader"),
        ("input = 0.5", "input = nan", "big.*input"),
        ("output = 2.0", "output = -2.0", "big.*output"),
    ],
)
def test_a_wrong_setting_is_named(old: str, new: str, told: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigurationError, match=rf"^eval\.toml.*{told}"):
        parse(GOOD.replace(old, new))


@pytest.mark.parametrize("tables", [{}, {"benchmarks": {"demo": {}}}, {"systems": {"ras": {}}}])
def test_something_has_to_be_asked_of_somebody(tables: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="at least one"):
        parse_config(tables, Path())


@pytest.mark.parametrize("part", ["test", "dev"])
@pytest.mark.parametrize("asked", [True, False])
def test_only_questions_that_a_training_kept_are_asked(
    tmp_path: Path, part: str, *, asked: bool
) -> None:
    rows = [
        {"question": f"Who is number {n}?", "answers": [str(n)], "support": [f"Page {n // 2}"]}
        for n in range(80)
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mix = "seed = 5\ndev = 0.2\ntest = 0.3\n" + 'asked = ["q.jsonl"]\n' * asked
    (tmp_path / "mix.toml").write_text(mix + '[[source]]\nfile = "q.jsonl"\n')
    table = {"format": "jsonl", "path": "q.jsonl", "untouched_by": "mix.toml", "part": part}
    config = parse_config({"benchmarks": {"b": table}, "systems": {"ras": {}}}, tmp_path)
    [(_, benchmark)] = load_questions(config)
    splitter = Splitter(seed=5, dev=0.2, test=0.3)
    splits = [splitter(str(row["question"])) for row in rows]
    # Whose question stays where two of them rest on the same page.
    order = ["test", "dev", "train"] if asked else ["train", "dev", "test"]
    expected = [
        row["question"]
        for n, row in enumerate(rows)
        if splits[n] == part and order.index(part) <= order.index(splits[n ^ 1])
    ]
    assert 0 < len(expected) < splits.count(part) or (asked and part == "test")
    assert [question.question for question in benchmark.questions] == expected
