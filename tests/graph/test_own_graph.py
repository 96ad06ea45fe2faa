"""A graph of one's own over the package's state and nodes runs as RAS's own does."""

from __future__ import annotations

from ras_flow import RasInput
from ras_flow.parts.chosen import Parts
from tests.graph.own_graph import build, runs_of
from tests.graph.world import QUESTION, world


async def test_its_runs_are_kept_and_read_with_its_own_channels() -> None:
    runs = runs_of(build(Parts.of(**world())))
    events = [event async for event in runs.start({"question": QUESTION}, run_id="mine")]
    assert [event["type"] for event in events] == ["start", "answer"]
    stored = await runs.get("mine")
    [triple] = stored.state["triples"].values()
    assert (stored.state["answer"], triple["object"]) == ("Narvik", "Narvik")
    assert stored.state["citations"][0]["triple"] in stored.state["triples"]
    assert dict(stored.state)["notes"] == ["looked up"]


def test_sync_callers_run_its_async_nodes() -> None:
    graph = build(Parts.of(**world())).compile()
    question: RasInput = {"question": QUESTION}
    assert graph.invoke(question)["answer"] == "Narvik"
