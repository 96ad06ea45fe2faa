from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError, ModelResponseError
from ras_flow.llms import load_language_model
from ras_flow.testing import HashEncoder
from ras_flow.training.data.labels import check_labels
from ras_flow.training.data.records import Record, read_records
from ras_flow.training.data.writer import own_set
from ras_flow.training.graph_llm.graphs import nearest_records
from ras_flow.training.splits import SPLITS, Split, Splitter
from recipes.graph_llm.config import MixConfig, Source, load_config
from recipes.graph_llm.convert import convert_mix
from recipes.graph_llm.inputs import read_inputs
from recipes.graph_llm.mix import write_mix
from recipes.graph_llm.noise import Noise
from tests.cli.command import Command, recipe, recipes_main
from tests.cli.command import ras_flow as run
from tests.servers import Answer, OpenAIServer
from tests.servers.scripted import last_message
from tests.training.data.examples import HOTPOT, write_lines


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


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


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
    return [record for split in SPLITS for record in read_split(folder, split)]


def read_split(folder: Path, split: Split) -> list[Record]:
    return list(read_records(folder / f"{split}.jsonl"))


def test_a_mix_is_split_by_question_and_has_one_label_an_input(folder: Path) -> None:
    config = load_config(folder / "mix.toml")
    stats = write_mix(config, folder / "out")
    by_split = {split: read_split(folder / "out", split) for split in SPLITS}
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


def test_options_in_another_order_do_not_bring_a_question_into_another_split(folder: Path) -> None:
    turned = [
        {**row, "id": f"t{row['id']}", "choices": row["choices"][::-1], "answer": "D"}
        for row in map(choice, range(40))
    ]
    write_lines(folder / "choices.jsonl", *map(choice, range(40)), *turned)
    splits: dict[str, set[Split]] = {}
    for of_split in read_inputs(load_config(folder / "mix.toml")).cases:
        for split, cases in of_split.items():
            for case in cases:
                splits.setdefault(case.question.partition("\n")[0], set()).add(split)
    assert set(map(len, splits.values())) == {1} and {*SPLITS} == set().union(*splits.values())


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


@pytest.mark.parametrize(
    ("stage", "left"), [("reading films", None), ("train", ["train.jsonl.lock"])]
)
async def test_a_conversion_that_is_cancelled_ends_at_the_next_question(
    folder: Path, stage: str, left: list[str] | None
) -> None:
    seen, cancelled = [], threading.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        work.cancel()
        loop.call_later(0.05, cancelled.set)

    def progress(what: str, done: int, total: int) -> None:
        if what.startswith(stage):
            seen.append(done)
            loop.call_soon_threadsafe(end)
            assert cancelled.wait(60)

    config = load_config(folder / "mix.toml")
    work = asyncio.create_task(convert_mix(config, folder / "out", progress=progress))
    with pytest.raises(asyncio.CancelledError):
        await work
    # Not before its thread.
    assert cancelled.is_set() and seen == [0]
    out = folder / "out"
    assert ([path.name for path in out.iterdir()] if out.exists() else None) == left


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
        return sum(record["task"] == "answer" for record in read_split(folder / "out", "train"))

    once = answers("films")
    assert answers("films", weight=3.0) > 2 * once
    assert 0 < answers("films", weight=0.5) < 0.8 * once
    assert answers("choices", max_records=7) == 7


def test_where_two_sources_disagree_the_first_is_kept(folder: Path) -> None:
    config = mixed(folder, "first", "second", dev=0.1, test=0.1)
    write_lines(folder / "first.jsonl", *map(choice, range(20)))
    write_lines(folder / "second.jsonl", *(choice(n) | {"answer": "B"} for n in range(20)))
    stats = write_mix(config, folder / "out")
    assert stats.dropped == {"conflicting": 20}
    answers = {r["target"]["answer"] for s in SPLITS for r in read_split(folder / "out", s)}
    assert answers == {"A"}


def test_rows_that_are_no_question_s_are_reported(folder: Path) -> None:
    beyond = HOTPOT | {"supporting_facts": [["Lindau", 99], ["Clara Novak", 0]]}
    write_lines(folder / "hotpot.jsonl", HOTPOT, beyond)
    write_lines(folder / "choices.jsonl", *map(choice, range(20)))
    stats = write_mix(mixed(folder, "hotpot", "choices", dev=0.1, test=0.1), folder / "out")
    assert stats.dropped == {"hotpot.jsonl: rows that no question could be made of": 1}


def test_files_that_share_ids_lose_no_record(folder: Path) -> None:
    """The same questions from two files, the second with a shorter way to the answer."""
    write_lines(folder / "first.jsonl", *map(film, range(20)))
    second = [film(n, triples=[[f"Film{n}", "made in", f"Town{n}"]]) for n in range(20)]
    write_lines(folder / "second.jsonl", *second)
    stats = write_mix(mixed(folder, "first", "second", dev=0.1, test=0.1), folder / "out")
    ids = [record["id"] for split in SPLITS for record in read_split(folder / "out", split)]
    assert sum(stats.by(1).values()) == len(ids) == len(set(ids))
    assert {id.split("/")[1] for id in ids} == {
        name for number in range(20) for name in (f"f{number}", f"f{number}~1")
    }


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


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name, numbers in (("a", range(3)), ("b", range(3, 8))):
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name / "films.jsonl", *map(film, numbers))
    made = asyncio.run(
        convert_mix(mixed(tmp_path, "a/films", "b/films"), tmp_path / "out")
    ).to_json()
    assert {name: sum(n.values()) for name, n in made["questions"].items()} == {
        "a/films.jsonl": 3,
        "b/films.jsonl": 5,
    }
    assert (
        len(set(made["sha256"].values())) == 2 and made["sha256"].keys() == made["questions"].keys()
    )
    assert [one["file"] for one in made["settings"]["sources"]] == list(made["sha256"])


def knowing(body: dict[str, Any]) -> Answer:
    """A base model that knows what is 3, and otherwise always says A."""
    asked = last_message(body)
    if "Film3 " in asked:
        return Answer("Town3")
    if "Pick 3\n" in asked:
        line = next(line for line in asked.split("\n") if line.endswith(". thing 3"))
        return Answer(f"{line[0]}. thing 3")
    return Answer("A")


async def test_what_a_base_model_knows_needs_no_retrieval(folder: Path) -> None:
    config = mixed(folder, "films", "choices", dev=0.1)
    with OpenAIServer(knowing) as server:
        model = load_language_model("openai:test", base_url=server.url)
        await convert_mix(config, folder / "out", model)
        count = len(server.requests)
        stats = await convert_mix(config, folder / "out", model)
        assert len(server.requests) == count
    records = read_all(folder / "out")
    first = {
        r["id"].split("/")[1]: r["target"]["label"]
        for r in records
        if not r["chain"] and r["task"] == "plan"
    }
    # "A" is right in the first order of the options, not in the others.
    assert {id for id, label in first.items() if label == "NO_RETRIEVAL"} == {"f3", "c3"}
    assert len(first) == 100
    assert [r["task"] for r in records if "/f3/" in r["id"]] == ["plan", "answer"]
    assert check_labels(records) == len(records)
    assert stats.usage["attempt"]["reused"] == count


async def test_a_base_model_that_rejects_all_is_told(folder: Path) -> None:
    config = mixed(folder, "films")
    with OpenAIServer(lambda body: Answer(status=404, error="no such model")) as server:
        model = load_language_model("openai:test", base_url=server.url)
        with pytest.raises(ModelResponseError, match="Check the model's name"):
            await convert_mix(config, folder / "out", model)
    assert not (folder / "out/stats.json").exists()


async def test_a_question_that_a_base_model_rejects_is_one_that_it_does_not_know(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def picky(body: dict[str, Any]) -> Answer:
        rejected = "Film5 " in last_message(body)
        return Answer(status=400, error="not this one") if rejected else knowing(body)

    with OpenAIServer(picky) as server:
        model = load_language_model("openai:test", base_url=server.url)
        await convert_mix(mixed(folder, "films"), folder / "out", model)
    records = read_all(folder / "out")
    known = {r["id"].split("/")[1] for r in records if r["target"].get("label") == "NO_RETRIEVAL"}
    assert known == {"f3"} and any("/f5/" in record["id"] for record in records)


async def test_a_question_that_is_too_long_for_a_plan_has_its_other_records(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Which of these, to the best of what is known, is a thing? " * 7
    write_lines(folder / "choices.jsonl", choice(5) | {"question": text}, choice(6))
    write_lines(
        folder / "films.jsonl", film(1, question=f"{text} Where was Film1's director born?")
    )
    with OpenAIServer(lambda body: Answer("nothing")) as server:
        model = load_language_model("openai:test", base_url=server.url)
        stats = await convert_mix(
            mixed(folder, "choices", "films", dev=0, test=0), folder / "out", model
        )
    records = read_split(folder / "out", "train")
    assert [r["task"] for r in records if "/c5/" in r["id"]] == ["answer"]
    assert [r["task"] for r in records if "/c6/" in r["id"]] == ["plan", "answer"]
    assert [r["id"] for r in records if "/f1/" in r["id"]] and all(
        r["chain"] for r in records if "/f1/" in r["id"]
    )
    assert stats.dropped == {"plans whose subquery is too long or without a word": 2}


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


def test_two_builds_do_not_write_to_one_folder_at_once(folder: Path) -> None:
    with own_set(folder / "out"), pytest.raises(ConfigurationError, match="Another build"):
        write_mix(load_config(folder / "mix.toml"), folder / "out")


def test_a_build_that_fails_leaves_the_data_set_that_is_there(folder: Path) -> None:
    config, out = load_config(folder / "mix.toml"), folder / "out"
    write_mix(config, out)
    before = {path: path.read_bytes() for path in out.iterdir()}

    def fail(doing: str, *_: int) -> None:
        if doing.startswith("test"):
            raise KeyError(doing)

    with pytest.raises(KeyError):
        write_mix(config.override({"seed": 6}), out, progress=fail)
    assert {path: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("command", ["convert", "play"])
def test_ctrl_c_ends_a_command_whose_thread_is_at_work(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--extractor", "openai:test", "--database", str(folder / "triples.db")]
    (folder / "films.jsonl").unlink()
    os.mkfifo(folder / "films.jsonl")
    arguments = [command, str(folder / "mix.toml"), "--out", str(folder / "out")]
    working = Command(*arguments, *(options if command == "play" else []), main=recipes_main)

    def reading() -> bool:
        with suppress(OSError):  # Nobody reads it yet.
            pipes.append(os.open(folder / "films.jsonl", os.O_WRONLY | os.O_NONBLOCK))
        return bool(pipes)

    pipes: list[int] = []
    working.until(reading)
    working.send(signal.SIGINT)
    # As long as the pipe is open its reader waits for more.
    done = working.wait(20)
    os.close(pipes[0])
    assert done.code == 130
    assert done.err.startswith("ras-flow: interrupted.") and done.err.count("\n") == 1


def test_the_command_converts_and_checks(folder: Path) -> None:
    done = recipe("convert", str(folder / "mix.toml"), "--out", str(folder / "out"))
    assert (done.code, done.err) == (0, "")
    assert "| [SUFFICIENT] |" in done.out
    told = run("data", "stats", str(folder / "out"), "--json")
    saved = json.loads((folder / "out/stats.json").read_text())
    assert json.loads(told.out)["labels"] == saved["labels"]
    # A record of a development question in the training part is found.
    train = folder / "out/train.jsonl"
    leak = read_split(folder / "out", "dev")[0] | {"split": "train", "id": "leak"}
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


def test_as_text_is_an_option_of_the_command(folder: Path) -> None:
    mix, out = str(folder / "mix.toml"), folder / "out"
    assert recipe("convert", mix, "--as-text", "--out", str(out)).code == 0
    links = [link for one in read_all(out) for link in one["chain"]]
    assert links and not any(link["triples"] for link in links)
    assert any(link["passages"] for link in links)
