"""Forks: what was there stays, several at once, and every step can be taken up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ras_flow import Context, Runs
from ras_flow.errors import EditError, InputError, RunError
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import branch_with, graph_after
from ras_flow.state.kg import triple_id
from ras_flow.testing import ScriptedAnswerer
from tests.graph.world import DOCUMENTS, QUESTION, SECOND, read_birthplace
from tests.runs.stories import (
    BIRTH,
    TOP1,
    WHOLE,
    asked,
    before,
    branch,
    cut_off,
    down,
    drop,
    events,
    runs_with,
    steps,
    told,
)
from tests.servers import Answer
from tests.servers.openai_server import OpenAIServer

pytestmark = pytest.mark.every_checkpointer


async def forked(runs: Runs, node: str, *edits: Any) -> RunDocument:
    """Edit the run before the node that comes next; the old branch must stay as it is."""
    old = await runs.document("a")
    checkpoint = before(old, node) if node else branch(old, 1)["steps"][-1]
    await events(runs.fork("a", checkpoint, edits))
    new = await runs.document("a")
    kept_as_it_was(old, new)
    return new


def kept_as_it_was(old: RunDocument, new: RunDocument) -> None:
    assert new["branches"][: len(old["branches"])] == old["branches"]
    assert {id: new["steps"][id] for id in old["steps"]} == old["steps"]
    assert {id: new["passages"][id] for id in old["passages"]} == old["passages"]
    assert old["triples"].items() <= new["triples"].items()
    assert new["current"] == len(new["branches"]) == len(old["branches"]) + 1


async def test_a_dropped_triple_leads_to_another_answer(saver: Any) -> None:
    document = await forked(await asked(saver), "answer", *drop())
    assert told(document, 2) == [*WHOLE[:-1], "edit", "answer"]
    assert steps(document, 2)[-2]["removed"] == [BIRTH]
    assert branch(document, 2)["forked_from"] == {"branch": 1, "step": 10}
    assert (branch(document, 1)["answer"], branch(document, 2)["answer"]) == ("Narvik", "elsewhere")
    assert BIRTH in document["triples"], "the old branch's triple is lost"


async def test_a_passage_that_is_dropped_before_extraction_is_not_extracted(memory: Any) -> None:
    runs = await asked(memory)
    [passage] = branch(await runs.document("a"), 1)["hops"][1]["passages"]
    for node in ("to_triples", "merge_graph"):
        document = await forked(runs, node, {"op": "drop_passage", "passage": passage})
        assert branch(document, document["current"])["answer"] == "elsewhere", node


@pytest.mark.parametrize("node", ["plan", "retrieve", "answer", ""])
async def test_another_subquery_is_what_is_retrieved(memory: Any, node: str) -> None:
    edit = {"op": "subquery", "text": "Who made the Harbour Bridge?"}
    document = await forked(await asked(memory), node, edit)
    second = branch(document, 2)
    assert second["hops"][-1]["subquery"] == "Who made the Harbour Bridge?"
    assert triple_id("the Harbour Bridge", "designer", "Leo Fahr") in graph_after(document, second)
    [edited] = [step for step in steps(document, 2) if step["kind"] == "edit"]
    assert edited["plan"] is not None and edited["next"] == ["retrieve"]


async def test_another_model_is_a_setting_of_the_new_branch(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return Answer(f"{body['model']} in Narvik" if "Narvik" in str(body["messages"]) else "?")

    monkeypatch.setenv("OPENAI_API_KEY", "placeholder")
    with OpenAIServer(answer) as server:
        context = Context(top_k=1, base_url=server.url)
        await asked(memory, context, documents=DOCUMENTS[:2])
        runs = runs_with(memory, [], answerer=None)
        model = {"op": "model", "role": "answerer", "name": "openai:other"}
        nodes = ["start", "to_triples", "merge_graph", "plan", "answer", ""]
        for number, node in enumerate(nodes, 2):
            document = await forked(runs, node, model)
            settings = context.changed() | {"answerer": "openai:other"}
            assert branch(document, number)["settings"] == settings
            said = branch(document, number)["answer"]
            assert said == "other in Narvik", f"documents lost before {node}"


async def test_a_model_that_cannot_be_used_is_refused_before_there_is_a_branch(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    await asked(memory)
    runs = runs_with(memory, [], answerer=None)
    old = await runs.document("a")
    for role, name, reason in [
        ("answerer", "nobody:x", "nobody"),
        ("answerer", "openai:x", "OPENAI_API_KEY"),
        ("planner", "local:default", "planner"),
    ]:
        edits = [*drop(), {"op": "model", "role": role, "name": name}]
        with pytest.raises(EditError, match=f"Edit 2: .*{reason}"):
            await events(runs.fork("a", before(old, "answer"), edits))
    assert await runs.document("a") == old


async def test_a_fork_whose_settings_are_no_longer_allowed_leaves_no_branch(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = await asked(memory, Context(index="elsewhere", top_k=1))
    old = await runs.document("a")
    monkeypatch.setenv("RAS_FLOW_INDEXES", "mine")
    with pytest.raises(InputError, match="as index"):
        await events(runs.fork("a", before(old, "answer"), drop()))
    assert await runs.document("a") == old


async def test_every_step_can_be_replayed(saver: Any) -> None:
    runs = await asked(saver)
    old = await runs.document("a")
    for number, checkpoint in enumerate(branch(old, 1)["steps"][:-1], 2):
        planned = number - 2 >= WHOLE.index("plan:1")
        again = runs_with(saver, [] if planned else ["[SUBQ] x", SECOND][number - 2 >= 2 :])
        begun = (await events(again.fork("a", checkpoint)))[0]
        new = await runs.document("a")
        kept_as_it_was(old, new)
        assert branch_with(new, begun["checkpoint"])["number"] == number
        assert branch(new, number)["answer"] == "Narvik"
        assert branch(new, number)["forked_from"] == {"branch": 1, "step": number - 2}
        assert told(new, number)[number - 1] == "replay"
        old = new
    with pytest.raises(RunError, match="left to replay"):
        await events(runs.fork("a", branch(old, 1)["steps"][-1]))
    assert await runs.document("a") == old


@pytest.mark.parametrize("at", ["answer", ""])
async def test_forks_at_once_are_branches_of_their_own(saver: Any, at: str) -> None:
    runs = await asked(saver)
    old = await runs.document("a")
    checkpoint = before(old, at) if at else branch(old, 1)["steps"][-1]
    add = {"op": "add_triple", "subject": "x", "predicate": "place of birth"}

    async def fork(town: str) -> tuple[str, str]:
        edits = [*drop(), {**add, "object": town}]
        told = await events(runs_with(saver, []).fork("a", checkpoint, edits))
        assert [event["type"] for event in told] == ["forked", "answer"]
        return told[0]["checkpoint"], told[-1]["answer"]

    towns = ["Oslo", "Bodø", "Moss", "Voss"]
    ends = await asyncio.gather(*map(fork, towns))
    assert [answer for _, answer in ends] == towns
    new = await runs.document("a")
    assert [branch_with(new, first)["answer"] for first, _ in ends] == towns
    assert new["branches"][0] == old["branches"][0]
    assert sorted(way["answer"] for way in new["branches"][1:]) == sorted(towns)
    for way in new["branches"][1:]:
        assert way["forked_from"] == {"branch": 1, "step": len(WHOLE) - (1 if at else 0) - 1}
        graph = graph_after(new, way)
        assert len(graph) == 4 and BIRTH not in graph


async def test_a_fork_that_fails_is_an_unfinished_branch_that_is_resumed(saver: Any) -> None:
    runs = await asked(saver)
    old = await runs.document("a")

    broken = runs_with(saver, [], answerer=ScriptedAnswerer(down))
    await cut_off(broken.fork("a", before(old, "answer"), drop()))
    new = await runs.document("a")
    kept_as_it_was(old, new)
    assert branch(new, 2)["status"] == "unfinished"
    assert [event["type"] for event in await events(runs.resume("a"))] == ["answer"]
    done = await runs.document("a")
    kept_as_it_was(old, done)
    assert branch(done, 2)["answer"] == "elsewhere"


async def test_what_cannot_be_forked_changes_nothing(memory: Any) -> None:
    runs = await asked(memory)
    old = await runs.document("a")
    last = branch(old, 1)["steps"][-1]
    for checkpoint in ("nope", "1f1e57dc-3705-6e90-800b-903ddd8746f4"):
        with pytest.raises(RunError, match=f"has no step '{checkpoint}'"):
            await events(runs.fork("a", checkpoint, drop()))
    with pytest.raises(RunError, match="no run 'b'"):
        await events(runs.fork("b", last))
    with pytest.raises(RunError, match="no run 'b'"):
        await runs.document("b")
    with pytest.raises(RunError, match="no run 'b'"):
        await runs.newest("b")
    with pytest.raises(EditError, match="Edit 1 .*'zz'"):
        await events(runs.fork("a", last, drop("zz")))
    for malformed in ([{"op": "drop_triple"}], ["drop"], [{"op": "zap"}], {"op": "model"}, "all"):
        with pytest.raises(EditError, match=r"Edit 1|come as a list"):
            await events(runs.fork("a", last, malformed))  # type: ignore[arg-type]
    with pytest.raises(RunError, match="is finished"):
        await events(runs.resume("a", drop()))
    for number in (0, 4):
        with pytest.raises(RunError, match=f"no branch {number}"):
            await events(runs.resume("a", branch=number))
    assert await runs.document("a") == old


async def test_edits_are_not_taken_by_a_run_that_waits_for_none(memory: Any) -> None:
    runs = runs_with(memory, answerer=ScriptedAnswerer(down))
    await cut_off(runs.start({"question": QUESTION}, TOP1, run_id="a"))
    with pytest.raises(RunError, match="waits for no review"):
        await events(runs.resume("a", drop()))


async def test_no_review_is_approved_by_mistake(saver: Any) -> None:
    runs = runs_with(saver)
    context = Context(top_k=1, pause_after_merge=True)
    await events(runs.start({"question": QUESTION}, context, run_id="a"))
    first = await runs.document("a")
    with pytest.raises(RunError, match=r"waits for a review.*--approve"):
        await events(runs.resume("a"))
    for edit in ({"op": "subquery", "text": "a\ud800"}, {"op\ud800": "subquery"}):
        with pytest.raises(EditError, match="Edit 1"):
            await events(runs.resume("a", [edit]))
    assert await runs.document("a") == first
    looked_at = branch(first, 1)["steps"][-1]
    await events(runs.resume("a", [], checkpoint=looked_at))
    second = await runs.document("a")
    assert branch(second, 1)["status"] == "paused"
    for edits in ([], drop()):
        with pytest.raises(RunError, match="somebody else answered"):
            await events(runs.resume("a", edits, branch=1, checkpoint=looked_at))
    assert await runs.document("a") == second


async def test_deleted_runs_are_gone_and_others_are_not(saver: Any) -> None:
    runs = await asked(saver)
    for run_id in ("b", "c"):
        await events(runs_with(saver, []).start({"question": QUESTION}, TOP1, run_id=run_id))
    with pytest.raises(RunError, match="no run 'z'"):
        await runs.delete(["b", "z"])
    assert {run.id for run in await runs.recent()} == {"a", "b", "c"}
    await runs.delete(["b", "a", "b"])
    assert {run.id for run in await runs.recent()} == {"c"}
    with pytest.raises(RunError, match="no run 'a'"):
        await runs.document("a")


async def test_a_run_at_work_is_not_disturbed_by_a_fork_of_its_newest_step(saver: Any) -> None:
    reached, released = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedAnswerer):
        async def answer(self, requests: Any) -> Any:
            reached.set()
            await released.wait()
            return await super().answer(requests)

    slow = runs_with(saver, answerer=Slow(read_birthplace))
    work = asyncio.create_task(events(slow.start({"question": QUESTION}, TOP1, run_id="a")))
    await reached.wait()
    runs = runs_with(saver, [])
    newest = (await runs.newest("a")).checkpoint
    await events(runs.fork("a", newest, drop()))
    released.set()
    assert (await work)[-1]["answer"] == "Narvik"
    document = await runs.document("a")
    assert [way["answer"] for way in document["branches"]] == ["Narvik", "elsewhere"]
    assert told(document) == WHOLE
    assert [len(graph_after(document, way)) for way in document["branches"]] == [4, 3]


async def test_the_last_step_is_edited_and_answered_again(memory: Any) -> None:
    add = {"op": "add_triple", "subject": "Mira Lund", "predicate": "place of birth"}
    document = await forked(await asked(memory), "", *drop(), {**add, "object": "Bodø"})
    assert told(document, 2) == [*WHOLE, "edit", "answer"]
    assert branch(document, 2)["answer"] == "Bodø"
    assert branch(document, 2)["forked_from"] == {"branch": 1, "step": 11}
    last = branch(document, 1)["steps"][-1]
    await cut_off(runs_with(memory, [], answerer=ScriptedAnswerer(down)).fork("a", last, drop()))
    state = (await runs_with(memory, []).get("a")).state
    assert (state["answer"], state["stop_reason"]) == ("", None), "not those of before the edit"
