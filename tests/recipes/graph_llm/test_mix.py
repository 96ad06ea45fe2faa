from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.testing import HashEncoder, ScriptedModel
from ras_flow.training.data.labels import check_labels
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.data import read_split
from ras_flow.training.graph_llm.graphs import nearest_records
from ras_flow.training.splits import SPLITS, Split, Splitter
from recipes.graph_llm.attempting import attempt
from recipes.graph_llm.config import MixConfig, Source, load_config
from recipes.graph_llm.inputs import read_inputs
from recipes.graph_llm.mix import write_mix
from recipes.graph_llm.noise import Noise
from tests.cli.command import ras_flow as run
from tests.cli.command import recipe
from tests.training.data.examples import write_lines


def film(number: int, **changes: Any) -> dict[str, Any]:
    """A two-hop question of its own in 2Wiki's form."""
    name, person = f"Film{number}", f"Person{number}"
    return {
        "id": f"f{number}",
        "question": f"Where was the director of {name} born?",
        "answer": f"Town{number}",
        "support": [[name, 0], [person, 0]],
        "triples": [[name, "director", person], [person, "place of birth", f"Town{number}"]],
    } | changes


def choice(number: int) -> dict[str, Any]:
    options = [f"thing {number}", "stone", "river", "cloud"]
    return {"id": f"c{number}", "question": f"Pick {number}", "choices": options, "answer": "A"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "films.jsonl", *map(film, range(60)))
    write_lines(tmp_path / "choices.jsonl", *map(choice, range(40)))
    # The first ten questions again, with another answer.
    again = [film(n, id=f"g{n}", answer=f"Town{n} City") for n in range(10)]
    write_lines(tmp_path / "again.jsonl", *again)
    passages = [
        {"title": f"Place{n}", "text": f"Place{n} is a town. It lies on River{n}."}
        for n in range(80)
    ]
    write_lines(tmp_path / "passages.jsonl", *passages)
    (tmp_path / "mix.toml").write_text(MIX)
    return tmp_path


MIX = """
seed = 5
dev = 0.2
test = 0.1
passages = [{file = "passages.jsonl"}]

[noise]
respelled = 0.0

[[source]]
file = "films.jsonl"
weight = 2.0

[[source]]
file = "again.jsonl"

[[source]]
file = "choices.jsonl"
max_records = 20
"""


def mixed(folder: Path, *names: str, **settings: Any) -> MixConfig:
    return MixConfig(
        sources=tuple(Source(file=folder / f"{name}.jsonl") for name in names), **settings
    )


def read_all(folder: Path) -> list[Record]:
    return [record for split in SPLITS for record in read_split([folder], split)]


def test_a_mix_is_split_by_question_and_has_one_label_an_input(folder: Path) -> None:
    config = load_config(folder / "mix.toml")
    stats = write_mix(config, folder / "out")
    by_split = {split: read_split([folder / "out"], split) for split in SPLITS}
    splitter = Splitter(seed=5, dev=0.2, test=0.1)
    for split, records in by_split.items():
        assert records
        assert {splitter(record["question"]) for record in records} == {split}
        assert {record["split"] for record in records} == {split}
    everything = [record for records in by_split.values() for record in records]
    assert check_labels(everything) == len(everything)
    assert sum(stats.by(1).values()) == len(everything)
    # Passages of one split are distractors of no other: each pool is its own.
    seen = {
        split: {
            triple[0]
            for record in records
            for link in record["chain"]
            for triple in link["triples"]
            if triple[0].startswith("Place")
        }
        for split, records in by_split.items()
    }
    assert all(seen.values())
    assert not seen["train"] & seen["dev"] and not seen["train"] & seen["test"]


def test_a_question_in_other_words_stays_in_its_split_in_whatever_file_it_is(folder: Path) -> None:
    # The seed brings the first into another split than the second.
    wordings = [film(1), film(1, id="w1", question="In which town was Film1's director born?")]
    for name, row in zip(("films", "again"), wordings, strict=True):
        write_lines(folder / f"{name}.jsonl", row)
    for seed in range(20):
        config = mixed(folder, "films", "again", seed=seed, dev=0.3, test=0.3)
        splits = {
            split
            for of_split in read_inputs(config).cases
            for split, cases in of_split.items()
            if cases
        }
        assert len(splits) == 1, seed


def test_training_reads_no_page_that_asked_questions_rest_on(folder: Path) -> None:
    # Each film has its director in common with the next one; each question brings all their pages.
    docs = [{"title": f"Person{n}", "sents": [f"Person{n} was born in Town{n}."]} for n in range(9)]
    rows = [
        film(n, docs=docs, support=[[f"Film{n}", 0], [f"Person{n // 2}", 0]]) for n in range(18)
    ]
    write_lines(folder / "films.jsonl", *rows)
    pages = [{"title": f"Person{n}", "text": f"Person{n} is a painter."} for n in range(9)]
    write_lines(folder / "passages.jsonl", *pages)
    mix = MIX.replace("passages =", 'asked = ["films.jsonl"]\npassages =').replace("0.1", "0.3", 1)
    (folder / "mix.toml").write_text(mix)
    config = load_config(folder / "mix.toml")
    inputs = read_inputs(config)
    gold: dict[Split, set[str]] = {
        split: {title for case in inputs.cases[0][split] for title in case.titles}
        for split in SPLITS
    }
    kept = [case.question for case in inputs.cases[0]["test"]]
    assert sorted(kept) == sorted(
        row["question"] for row in rows if config(row["question"]) == "test"
    )
    assert gold["train"] and not gold["train"] & (gold["dev"] | gold["test"])
    read = {page.title.lower() for page in inputs.all_pages("train")}
    assert read & gold["train"] and not read & (gold["dev"] | gold["test"])


async def test_what_the_base_answers_by_itself_needs_no_retrieval(folder: Path) -> None:
    config = load_config(folder / "mix.toml")
    number = next(n for n in range(10, 60) if config(film(n)["question"]) == "train")
    question, answer = film(number)["question"], film(number)["answer"]
    base = ScriptedModel(lambda prompt: answer if question in prompt else "Oulu")
    for _ in range(2):
        known, of = await attempt(config, base, folder / "tried")
        assert (known, len(base.prompts)) == (1, of), "nothing is asked twice"
    config = config.override({"known": folder / "tried/known.jsonl"})
    await asyncio.to_thread(write_mix, config, folder / "out")
    own = [one for one in read_split([folder / "out"], "train") if one["question"] == question]
    assert [one["target"] for one in own] == [{"label": "NO_RETRIEVAL"}, {"answer": answer}]
    assert not any(one["chain"] for one in own)


def test_a_question_that_its_runs_word_differently_is_kept_in_each_wording(folder: Path) -> None:
    rows = [film(n, support=[[f"Film{n} (film)", 0], [f"Person{n}", 0]]) for n in range(60)]
    write_lines(folder / "films.jsonl", *rows)
    config = load_config(folder / "mix.toml").override({"noise": Noise(odd_case=0.5)})
    write_mix(config, folder / "out")
    questions = {record["question"] for record in read_split([folder / "out"], "train")}
    wordings = [{question.replace(" (Film)", ""), question} for question in questions]
    assert any(len(both) == 2 and both <= questions for both in wordings)


def test_the_same_seed_writes_the_same_bytes(folder: Path) -> None:
    config = load_config(folder / "mix.toml")
    names = ["train.jsonl", "dev.jsonl", "test.jsonl", "stats.json", "README.md"]
    for out in ("one", "two"):
        write_mix(config, folder / out)
    written = sorted(path.name for path in (folder / "one").iterdir())
    assert written == sorted([*names, "train.jsonl.lock"])
    for name in names:
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()
    write_mix(config.override({"seed": 6}), folder / "three")
    assert (folder / "one/train.jsonl").read_bytes() != (folder / "three/train.jsonl").read_bytes()


def test_the_nearest_triples_are_all_that_is_read(folder: Path) -> None:
    config = load_config(folder / "mix.toml").override({"max_triples": 3})
    write_mix(config, folder / "out", encoder=HashEncoder())
    records = read_all(folder / "out")
    assert nearest_records(records, HashEncoder(), 3) == records
    labels = set()
    for record in records:
        if record["source"] != "2wiki" or not record["chain"]:
            continue
        number = int("".join(filter(str.isdigit, record["id"].split("/")[1])))
        seen = {tuple(triple) for link in record["chain"] for triple in link["triples"]}
        subjects = {subject for subject, *_ in seen}
        enough = {f"Film{number}", f"Person{number}"} <= subjects
        label = record["target"].get("label", "SUFFICIENT")
        assert (label == "SUFFICIENT") == enough
        labels.add(label)
    assert labels == {"SUBQ", "SUFFICIENT"}


def test_weights_and_limits(folder: Path) -> None:
    quiet = Noise(dead_end=0.0, found=1.0, lucky=0.0)

    def answers(name: str, **limits: Any) -> int:
        source = Source(file=folder / f"{name}.jsonl", **limits)
        config = MixConfig(sources=(source,), dev=0.2, test=0.1, noise=quiet)
        write_mix(config, folder / "out")
        return sum(record["task"] == "answer" for record in read_split([folder / "out"], "train"))

    once = answers("films")
    assert answers("films", weight=3.0) > 2 * once
    assert 0 < answers("films", weight=0.5) < 0.8 * once
    assert answers("choices", max_records=7) == 7


def test_the_card_tells_sources_seed_and_checksums(folder: Path) -> None:
    from hashlib import sha256

    stats = write_mix(load_config(folder / "mix.toml"), folder / "out")
    card = (folder / "out/README.md").read_text()
    saved = json.loads((folder / "out/stats.json").read_text())
    digest = sha256((folder / "films.jsonl").read_bytes()).hexdigest()
    assert saved["sha256"]["films.jsonl"] == digest
    assert "| 2wiki |" in card
    assert saved["settings"]["sources"][0]["weight"] == 2.0
    assert str(folder) not in card + json.dumps(saved)
    assert saved["records"] == stats.by(0, 1, 2)
    assert sum(saved["records"].values()) == len(read_all(folder / "out"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "source is missing"),
        ("[[source]]\nweight = 1.0", r"source\.0\.file is missing"),
        ('[[source]]\nfile = "a"\nwieght = 1.0', "'wieght'"),
        ('[[source]]\nfile = "a"\nweight = 0', "weight"),
        ('dev = 0.9\ntest = 0.3\n[[source]]\nfile = "a"', "leave some for training"),
        ('[noise]\nfound = 2.0\n[[source]]\nfile = "a"', r"noise\.found"),
        ('as_text = true\nmax_triples = 2\n[[source]]\nfile = "a"', "as_text"),
        ("[[source", "TOML"),
    ],
)
def test_a_wrong_setting_is_told(tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "mix.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=rf"mix\.toml.*{place}"):
        load_config(tmp_path / "mix.toml")


def test_the_command_converts_and_checks(folder: Path) -> None:
    done = recipe("convert", str(folder / "mix.toml"), "--out", str(folder / "out"))
    assert (done.code, done.err) == (0, "")
    assert "| [SUFFICIENT] |" in done.out
    told = run("data", "stats", str(folder / "out"), "--json")
    saved = json.loads((folder / "out/stats.json").read_text())
    assert json.loads(told.out)["labels"] == saved["labels"]
    # A record of a development question in the training part is found.
    train = folder / "out/train.jsonl"
    leak = read_split([folder / "out"], "dev")[0] | {"split": "train", "id": "leak"}
    train.write_text(train.read_text() + json.dumps(leak) + "\n")
    told = run("data", "stats", str(folder / "out"))
    assert told.code == 1
    assert "in two splits" in told.err
    train.write_text(json.dumps(leak | {"split": "test"}) + "\n")
    told = run("data", "stats", str(folder / "out"))
    assert "train.jsonl:1: split: this record is for test" in told.err
    (folder / "out/stats.json").unlink()
    told = run("data", "stats", str(folder / "out"))
    assert "not a complete data set" in told.err
    done = recipe("convert", str(folder / "none.toml"), "--out", str(folder / "out"))
    assert done.code == 1 and "none.toml" in done.err
