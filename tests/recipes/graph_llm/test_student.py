"""A planner's own runs are played: its plans are followed, and the teacher's are recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow.errors import ModelError, ModelResponseError, ModelUnavailableError
from ras_flow.formats.triples import Spo
from ras_flow.parts import ChainLink, PlanRequest, Reading, Reply
from ras_flow.state.schema import Triple
from ras_flow.testing import HashEncoder, MappingExtractor, ScriptedPlanner
from ras_flow.training.data.records import Record, Target
from ras_flow.training.graph_llm.data import read_split
from ras_flow.training.splits import SPLITS
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.config import load_config
from recipes.graph_llm.playing import play_mix
from recipes.graph_llm.student import Student
from recipes.graph_llm.teacher import Teacher
from tests.training.data.examples import QUESTION, WIKI2, write_lines

WHO = "Who directed Salt Road?"
WHO_ELSE = "Who is the director of the film Salt Road?"
WHEN = "When was Aino Laine born?"
DIRECTOR: Spo = ("Salt Road", "directed by", "Aino Laine")
BORN: Spo = ("Aino Laine", "born on", "3 May 1921")
OTHER: Spo = ("Pier House", "is in", "Halden")

CASE = Case(
    source="test",
    id="1",
    question=QUESTION,
    answer="3 May 1921",
    steps=(
        Step((WHO, WHO_ELSE), (DIRECTOR,), Page("Salt Road", ()), short=(DIRECTOR,)),
        Step((WHEN,), (BORN,), Page("Aino Laine", ()), needs=(0,), short=(BORN,)),
    ),
)


def request(*hops: tuple[str, list[Spo]]) -> PlanRequest:
    return PlanRequest(
        QUESTION,
        [
            ChainLink(q, [Triple(subject=s, predicate=p, object=o, passages=[]) for s, p, o in kg])
            for q, kg in hops
        ],
    )


def subq(subquery: str) -> Target:
    return {"label": "SUBQ", "subquery": subquery}


class Game:
    """One run that a planner plans by a script."""

    def __init__(self, *plans: str) -> None:
        self.planner = ScriptedPlanner(plans)
        self.teacher = Teacher(CASE, "train", "played-by-script")
        self.student = Student(self.planner, self.teacher)

    async def at(self, *hops: tuple[str, list[Spo]]) -> str:
        """Return what is done next where the run has these hops."""
        [reply] = await self.student.plan([request(*hops)])
        return reply.text

    @property
    def recorded(self) -> list[Target]:
        return [record["target"] for record in self.teacher.records]


FIRST = (QUESTION, [OTHER])


async def test_the_planner_is_followed_and_the_teacher_recorded() -> None:
    game = Game("[SUBQ] Where is Oulu?", "[SUBQ] How long is Salt Road?")
    assert await game.at() == f"[SUBQ] {QUESTION}"
    assert game.recorded == [subq(QUESTION)]
    assert game.planner.requests == [], "the first search is the question itself"
    assert await game.at(FIRST) == "[SUBQ] Where is Oulu?"
    assert game.planner.requests == [request(FIRST)]
    after = (FIRST, ("Where is Oulu?", [DIRECTOR]))
    assert await game.at(*after) == "[SUBQ] How long is Salt Road?"
    assert game.recorded[1:] == [subq(WHO), subq(WHEN)]
    # What is recorded is the state that the planner's own subquery led to.
    chain = game.teacher.records[2]["chain"]
    assert [link["subquery"] for link in chain] == [QUESTION, "Where is Oulu?"]
    assert [link["triples"] for link in chain] == [[list(OTHER)], [list(DIRECTOR)]]
    assert all("/played-by-script/" in record["id"] for record in game.teacher.records[1:])


async def test_an_overdue_stop_is_recorded_and_the_planner_followed() -> None:
    game = Game("[SUBQ] Where is Oulu?", "[SUBQ] Who is Aino?", "[SUFFICIENT]")
    await game.at()
    known = (QUESTION, [DIRECTOR, BORN])
    asked = [known]
    for subquery in ("Where is Oulu?", "Who is Aino?"):
        assert await game.at(*asked) == f"[SUBQ] {subquery}"
        asked.append((subquery, []))
    assert await game.at(*asked) == "[SUFFICIENT]"
    assert game.recorded[1:] == [{"label": "SUFFICIENT"}] * 3


class Wanderer(ScriptedPlanner):
    """Reads soft tokens and a triple of each hop, and asks for the house."""

    identity = "testing:wanderer"
    reading = Reading(max_triples=1)

    def __init__(self) -> None:
        super().__init__(["[SUBQ] Where is Pier House?"] * 20, takes_soft_tokens=True)


SAID = {
    "Salt Road (film)": "(S> Salt Road| P> of| O> 1950), (S> Salt Road| P> made by| O> Aino Laine)",
    "Aino Laine": "(S> Aino Laine| P> born on| O> 3 May 1921), (S> Aino Laine| P> was| O> Finnish)",
    "Northern Light": "(S> Northern Light| P> shot in| O> Oulu)",
    "Pier House": "(S> Pier House| P> is in| O> Halden)",
}


def written(folder: Path) -> list[Record]:
    return [one for split in SPLITS for one in read_split([folder], split)]


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    write_lines(tmp_path / "films.jsonl", WIKI2)
    head = "seed = 5\ndev = 0\ntest = 0\n[noise]\nmax_hops = 4\ndead_end = 0\npassages = 1\n"
    (tmp_path / "mix.toml").write_text(head + '[[source]]\nfile = "films.jsonl"\n')
    return tmp_path / "mix.toml"


async def test_in_real_runs_the_planner_sees_what_it_sees_in_its_own(mix: Path) -> None:
    planner, folder = Wanderer(), mix.parent / "out"
    stats = await play_mix(
        load_config(mix),
        folder,
        MappingExtractor(SAID),
        InMemoryStore(),
        planner=planner,
        encoder=HashEncoder(),
    )
    assert planner.requests
    for asked in planner.requests:
        assert asked.graph is not None
        assert asked.graph.encoder == HashEncoder.identity
        assert all(len(link.triples) <= 1 for link in asked.chain)
    assert stats.settings["planner"] == "testing:wanderer"
    records = written(folder)
    plans = [record for record in records if record["task"] == "plan"]
    hops = [link["subquery"] for link in plans[-1]["chain"]]
    assert hops[:2] == [QUESTION, "Where is Pier House?"]
    # From then on the planner repeats itself, and the teacher goes on.
    assert hops[2:] == [plan["target"]["subquery"] for plan in plans[2:-1]]
    assert len(hops) >= 3
    assert any("/played-by-testing:wanderer-0/plan-1" in record["id"] for record in records)


class Failing(ScriptedPlanner):
    """Fails after its first plan, in the run of one question."""

    def __init__(self, error: ModelError) -> None:
        super().__init__([])
        self._error = error

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        [request] = requests
        if "Salt Road" in request.question and len(request.chain) > 1:
            raise self._error
        return [Reply(f"[SUBQ] Where is house {len(request.chain)}?", 3, 2)]


@pytest.mark.parametrize("error", [ModelUnavailableError, ModelResponseError])
async def test_a_question_on_which_the_planner_fails_is_left_out_and_counted(
    mix: Path, error: type[ModelError]
) -> None:
    other = json.loads(json.dumps(WIKI2).replace("Salt Road", "Moss Road"))
    write_lines(mix.parent / "films.jsonl", WIKI2, other | {"_id": "w2"})
    folder, failing, store = mix.parent / "out", Failing(error("too long")), InMemoryStore()
    said = SAID | {"Moss Road (film)": "(S> Moss Road| P> of| O> 1950)"}
    stats = await play_mix(load_config(mix), folder, MappingExtractor(said), store, planner=failing)
    assert stats.dropped["questions whose planner failed"] == 1
    records = written(folder)
    assert {record["question"] for record in records} == {other["question"]}
    # The plan before the failure was paid for, too.
    followed = max(len(record["chain"]) for record in records) - 1
    assert stats.usage["plan"]["calls"] > followed
    write_lines(mix.parent / "films.jsonl", WIKI2)
    with pytest.raises(ModelUnavailableError, match="too long"):
        await play_mix(load_config(mix), folder, MappingExtractor(said), store, planner=failing)
    assert written(folder) == records
