"""Real runs on training questions: what a teacher says, and what becomes of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow.errors import ModelUnavailableError
from ras_flow.formats.triples import Spo
from ras_flow.parts import ChainLink, Extraction, Extractor, PlanRequest
from ras_flow.state.schema import Passage, Triple
from ras_flow.testing import HashEncoder, MappingExtractor
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.data import read_split
from ras_flow.training.splits import SPLITS, Split
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.config import load_config
from recipes.graph_llm.playing import play_mix
from recipes.graph_llm.teacher import Teacher
from tests.cli.command import recipe
from tests.servers import Answer, OpenAIServer
from tests.servers.scripted import last_message
from tests.training.data.examples import HOTPOT, write_lines

COUNT = 16


def film(number: int) -> dict[str, Any]:
    """A two-hop question in 2Wiki's form, with its documents."""
    name, person = f"Salt{number} Road{number}", f"Aino{number} Laine{number}"
    return {
        "_id": f"f{number}",
        "type": "compositional",
        "question": f"When was the director of film {name} born?",
        "answer": f"{number} May 1921",
        "supporting_facts": [[name, 0], [person, 0]],
        "evidences": [
            [name, "director", person],
            [person, "date of birth", f"{number} May 1921"],
        ],
        "context": [
            [name, [f"{name} is a 1950 drama film. It was made by {person}."]],
            [person, [f"{person} (born {number} May 1921) was Finnish."]],
            [f"Oulu{number}", [f"Oulu{number} is a town on the river Aach{number}."]],
        ],
    }


def extracted(number: int) -> dict[str, str]:
    """What an extractor says of them, in other words than the gold facts'."""
    name, person = f"Salt{number} Road{number}", f"Aino{number} Laine{number}"
    return {
        name: f"(S> {name}| P> is| O> drama film), (S> {name}| P> made by| O> {person})",
        person: f"(S> {person}| P> born on| O> May {number}, 1921)",
        f"Oulu{number}": f"(S> Oulu{number}| P> lies on| O> river Aach{number})",
    }


def told(number: int) -> set[Spo]:
    """The triples that answer a question."""
    person = f"Aino{number} Laine{number}"
    return {
        (f"Salt{number} Road{number}", "made by", person),
        (person, "born on", f"May {number}, 1921"),
    }


SAID = {title: said for number in range(COUNT) for title, said in extracted(number).items()}
SAID["Clara Novak"] = "(S> Clara Novak| P> born in| O> Lindau)"
SAID["Lindau"] = "(S> Lindau| P> lies on| O> River Aach)"


def write_mix(folder: Path) -> Path:
    write_lines(folder / "films.jsonl", *map(film, range(COUNT)))
    write_lines(folder / "hotpot.jsonl", HOTPOT)
    text = "seed = 5\ndev = 0.2\ntest = 0.1\n[noise]\nmax_hops = 4\ndead_end = 0\n"
    text += "".join(f'[[source]]\nfile = "{name}.jsonl"\n' for name in ("films", "hotpot"))
    (folder / "mix.toml").write_text(text)
    return folder / "mix.toml"


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    return write_mix(tmp_path)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    return asyncio.run(play(write_mix(tmp_path_factory.mktemp("played"))))


def written(mix: Path) -> list[Record]:
    return [one for split in SPLITS for one in read_split([mix.parent / "out"], split)]


async def play(
    mix: Path,
    said: Mapping[str, str] = SAID,
    *,
    extractor: Extractor | None = None,
    store: InMemoryStore | None = None,
    limit: int | None = None,
    encoder: HashEncoder | None = None,
    **changes: int,
) -> list[Record]:
    config, out = load_config(mix).override(changes), mix.parent / "out"
    extractor, store = extractor or MappingExtractor(said), store or InMemoryStore()
    await play_mix(config, out, extractor, store, limit=limit, encoder=encoder)
    return written(mix)


class Failing(MappingExtractor):
    """Fails for passages with this in their title."""

    def __init__(self, title: str) -> None:
        super().__init__(SAID)
        self._title = title

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        made = await super().extract(passages)
        return [
            replace(one, error="timeout") if self._title in passage["title"] else one
            for passage, one in zip(passages, made, strict=True)
        ]


def of(records: Sequence[Record], number: int) -> list[Record]:
    return [record for record in records if record["id"].startswith(f"2wiki/f{number}/")]


def seen(record: Record) -> set[Spo]:
    return {(t[0], t[1], t[2]) for link in record["chain"] for t in link["triples"]}


def test_the_teacher_says_sufficient_where_the_real_graph_has_all_facts(
    played: list[Record],
) -> None:
    for number in range(COUNT):
        facts = told(number)
        own = of(played, number)
        plans = [record for record in own if record["task"] == "plan"]
        assert plans[0]["chain"] == []
        assert plans[0]["target"] == {"label": "SUBQ", "subquery": film(number)["question"]}
        for plan in plans[1:]:
            enough = facts <= seen(plan)
            assert (plan["target"]["label"] == "SUFFICIENT") == enough
            assert all(link["triples"] for link in plan["chain"])
        answer = own[-1]
        assert answer["task"] == "answer"
        assert answer["target"] == {"answer": f"{number} May 1921"}
        assert facts <= seen(answer)
    hops = [link["triples"] for link in of(played, 3)[-1]["chain"]]
    # Five passages of about a triple each, the distractors' too.
    assert all(5 <= len({triple[0] for triple in triples}) for triples in hops)
    asked = {record["target"].get("subquery") for record in played}
    assert any(f"When was Aino{n} Laine{n} born?" in asked for n in range(COUNT))


async def test_the_teacher_knows_no_more_than_what_is_read(mix: Path) -> None:
    records = await play(mix, encoder=HashEncoder(), max_triples=1)
    sufficient = 0
    for number in range(COUNT):
        facts = told(number)
        for record in of(records, number):
            assert len(seen(record)) <= len(record["chain"])
            if record["chain"] and record["task"] == "plan":
                enough = facts <= seen(record)
                assert (record["target"]["label"] == "SUFFICIENT") == enough
                sufficient += enough
    plans = [record for record in records if record["chain"] and record["task"] == "plan"]
    assert 0 < sufficient < len(plans)


async def test_chains_of_hotpotqa_are_played_and_its_other_questions_are_not(mix: Path) -> None:
    # Of a comparison it is not known which facts it takes: only that some stand in its sentences.
    verdict = HOTPOT | {"_id": "h2", "answer": "yes", "question": "Do both Lindau and Oulu exist?"}
    write_lines(mix.parent / "hotpot.jsonl", HOTPOT, verdict)
    records = await play(mix)
    own = [record for record in records if record["source"] == "hotpotqa"]
    assert {record["question"] for record in own} == {HOTPOT["question"]}
    assert own[-1]["target"] == {"answer": "River Aach"}
    assert {("Clara Novak", "born in", "Lindau"), ("Lindau", "lies on", "River Aach")} <= seen(
        own[-1]
    )


async def test_a_run_with_a_dead_end_finds_no_passage_of_one_step_and_gives_up(mix: Path) -> None:
    text = (
        mix.read_text()
        .replace("dead_end = 0\n", "dead_end = 1\n")
        .replace("seed", "give_up = 1\nseed")
    )
    mix.write_text(text.replace('"films.jsonl"', '"films.jsonl"\nweight = 2'))
    records = await play(mix)
    labels = set()
    for number in range(COUNT):
        own = of(records, number)
        assert not any(told(number) <= seen(record) for record in own)
        labels |= {record["target"].get("label") for record in own}
    assert labels == {"SUBQ", "NOT_FOUND"}
    # Each question is played twice; what the runs have in common is kept once.
    assert {record["id"].split("/")[2] for record in records} >= {"played-0", "played-1"}


def test_training_never_shows_a_passage_of_a_held_out_question(played: list[Record]) -> None:
    split: dict[str, Split] = {record["question"]: record["split"] for record in played}
    held = {n for n in range(COUNT) if split[film(n)["question"]] != "train"}
    assert held
    subjects = {
        triple[0] for record in played if record["split"] == "train" for triple in seen(record)
    }
    assert subjects
    assert not subjects & {title for number in held for title in extracted(number)}


async def test_questions_whose_passages_fail_are_left_out_and_counted(mix: Path) -> None:
    out = mix.parent / "out"
    stats = await play_mix(load_config(mix), out, Failing("Salt3 Road3"), InMemoryStore())
    [reason] = [name for name in stats.dropped if "could not be extracted" in name]
    assert stats.dropped[reason] >= 1
    records = written(mix)
    assert records and not of(records, 3)
    with pytest.raises(ModelUnavailableError, match="timeout"):
        await play(mix, extractor=Failing(""))
    assert written(mix) == records


PLACE = Case(
    source="test",
    id="1",
    question="In which country is Meydan, Fars?",
    answer="Iran",
    steps=(
        Step(
            ("Where is Meydan, Fars?",),
            (("Meydan, Fars", "country", "Iran"),),
            Page("Meydan, Fars", (), "Meydan is a village in Iran."),
            short=(("Meydan", "country", "Iran"),),
        ),
    ),
)


def graph(*triples: Spo) -> list[ChainLink]:
    made = [Triple(subject=s, predicate=p, object=o, passages=[]) for s, p, o in triples]
    return [ChainLink(PLACE.question, made)]


@pytest.mark.parametrize(
    ("triple", "enough"),
    [
        (("Meydan", "village in", "Iran"), True),
        (("Meydan village", "lies in", "iran"), True),
        (("Iran", "has village", "Meydan"), True),
        (("Meydan", "village in", "Fars"), False),
        (("Fars", "province of", "Iran"), False),
    ],
)
async def test_a_fact_is_told_by_a_triple_of_its_names(triple: Spo, enough: bool) -> None:
    teacher = Teacher(PLACE, "train")
    await teacher.plan([PlanRequest(PLACE.question)])
    [reply] = await teacher.plan([PlanRequest(PLACE.question, graph(triple))])
    assert (reply.text == "[SUFFICIENT]") == enough


def test_the_command_goes_on_where_it_was(mix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    def say(body: dict[str, Any]) -> Answer:
        title = last_message(body).partition("Title: ")[2].partition("\n")[0]
        return Answer(SAID.get(title, "none"))

    with OpenAIServer(say) as server:
        command = [
            *("play", str(mix), "--out", str(mix.parent / "out"), "--json"),
            *("--extractor", "openai:test", "--base-url", server.url),
        ]
        done = recipe(*command)
        assert done.code == 0, done.err
        asked = len(server.requests)
        assert asked
        assert json.loads(done.out)["labels"]["answer"] == COUNT + 1
        again = recipe(*command)
        assert again.code == 0, again.err
        assert len(server.requests) == asked
    refused = recipe("play", str(mix), "--out", str(mix.parent / "x"), "--extractor", "none")
    assert refused.code == 1
    assert "makes no triples" in refused.err
