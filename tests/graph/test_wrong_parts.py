"""Parts and edits of a user's own that are wrong: the error names them, and nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Overwrite

from ras_flow import Context, Runs, build_graph
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.parts import Extraction, Reply, ScoredPassage
from ras_flow.state.kg import triple_id
from ras_flow.state.schema import Passage, make_passage
from ras_flow.testing import ListRetriever, MappingExtractor
from tests.graph.world import DOCUMENTS, QUESTION, SECOND, TRIPLES, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
TOP1 = Context(top_k=1)
DESIGNER = triple_id("Aurora Bridge", "designer", "Mira Lund")
COST = {"calls": 1, "input_tokens": 1, "output_tokens": 1, "seconds": 0.1}
FACT = {"subject": "Aurora Bridge", "predicate": "designer", "object": "Mira Lund"}


class Forgetful:
    """Plays every role, and loses all it was asked."""

    identity = "forgetful"
    takes_soft_tokens = False
    batch_size = 4

    async def nothing(self, *_: Any) -> list[Any]:
        return []

    plan = retrieve = extract = answer = nothing


@pytest.mark.parametrize("role", ["planner", "retriever", "extractor", "answerer"])
async def test_a_part_that_loses_a_request_is_named(role: str) -> None:
    with pytest.raises(ConfigurationError, match="Forgetful returned 0 results"):
        await build(world(**{role: Forgetful()})).ainvoke({"question": QUESTION})


CHAT = FakeListChatModel(responses=["Narvik"])


@pytest.mark.parametrize(
    "wrapped",
    [
        CHAT.with_fallbacks([CHAT]),
        CHAT.with_retry(),
        CHAT.bind(stop="x"),
        CHAT.with_config(tags=["x"]),
        CHAT | StrOutputParser(),
    ],
    ids=lambda wrapped: type(wrapped).__name__,
)
@pytest.mark.parametrize("role", ["planner", "extractor", "answerer"])
def test_what_wraps_a_chat_model_is_refused_with_the_way_out(role: str, wrapped: Any) -> None:
    with pytest.raises(ConfigurationError, match="chat model itself"):
        build_graph(**{role: wrapped})


@pytest.mark.parametrize("role", ["planner", "retriever"])
def test_a_name_given_as_a_part_is_refused_with_where_to_put_it(role: str) -> None:
    with pytest.raises(ConfigurationError, match="defaults=Context"):
        build_graph(**{role: "openai:MODEL"})  # type: ignore[arg-type]


def test_a_retriever_with_fallbacks_is_refused() -> None:
    class Empty(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Any]:
            return []

    with pytest.raises(ConfigurationError, match="lacks `retrieve"):
        build_graph(retriever=Empty().with_fallbacks([Empty()]))


@pytest.mark.parametrize(
    ("role", "method", "returned"),
    [
        ("planner", "plan", "[SUFFICIENT]"),
        ("answerer", "answer", ["Narvik"]),
        ("extractor", "extract", [[("a", "b", "c")]]),
        ("retriever", "retrieve", [ScoredPassage(make_passage("a", "b"), 1.0)]),
    ],
)
@pytest.mark.parametrize("awaited", [True, False])
async def test_a_part_that_returns_something_else_is_named(
    role: str, method: str, returned: Any, awaited: bool
) -> None:
    async def soon(*_: Any) -> Any:
        return returned

    class Odd(Forgetful):
        pass

    setattr(Odd, method, soon if awaited else lambda *_: returned)
    wrong = "Odd returned .* a list of" if awaited else "Odd returned a .* `async def`"
    with pytest.raises(ConfigurationError, match=wrong):
        await build(world(**{role: Odd()})).ainvoke({"question": QUESTION}, context=TOP1)


@pytest.mark.parametrize(
    ("reply", "field"),
    [
        (Reply(None, 1, 1), "text"),  # type: ignore[arg-type]
        (Reply("[SUFFICIENT]", None, 2), "input_tokens"),  # type: ignore[arg-type]
        (Reply("[SUFFICIENT]", 2**70, 2), "input_tokens"),
        (Reply("[SUFFICIENT]", 1, -2), "output_tokens"),
    ],
)
@pytest.mark.parametrize(("role", "method"), [("planner", "plan"), ("answerer", "answer")])
async def test_a_reply_with_something_else_in_it_is_named(
    role: str, method: str, reply: Reply, field: str
) -> None:
    async def written(*_: Any) -> list[Reply]:
        return [reply]

    class Odd(Forgetful):
        pass

    setattr(Odd, method, written)
    with pytest.raises(ConfigurationError, match=f"Odd returned .* its `{field}` must be"):
        await build(world(**{role: Odd()})).ainvoke({"question": QUESTION})


async def test_an_extractor_whose_triples_are_pairs_is_told() -> None:
    class Pairs(Forgetful):
        async def extract(self, passages: Any) -> list[Extraction]:
            return [Extraction([("a", "b")])] * len(passages)  # type: ignore[list-item]

    with pytest.raises(InputError, match=r"\('a', 'b'\) is not a triple"):
        await build(world(extractor=Pairs())).ainvoke({"question": QUESTION})


async def test_a_passage_found_twice_counts_once_and_one_too_many_not_at_all() -> None:
    class Twice:
        identity = "twice"

        async def retrieve(self, queries: Any, k: int) -> list[list[ScoredPassage]]:
            a = Passage(id="a", title="Mira Lund", text="Mira Lund was born in Narvik.")
            b = Passage(id="b", title="Narvik", text="Narvik is a town.")
            more = Passage(id="c", title="Norway", text="More than was asked for.")
            ranked = [(a, 3.0), (b, 2.0), (a, 1.0), (more, 0.5)]
            return [[ScoredPassage(*scored) for scored in ranked]]

    result = await build(world(retriever=Twice())).ainvoke(
        {"question": QUESTION}, context=Context(top_k=2)
    )
    found = [result["passages"][id]["title"] for id in result["hops"][0]["passages"]]
    assert found == ["Mira Lund", "Narvik"]
    assert result["hops"][0]["scores"] == [3.0, 2.0]


class Odd(ListRetriever):
    """Finds passages with something else in them."""

    def __init__(self, score: Any = 1.0, **changes: Any) -> None:
        super().__init__(DOCUMENTS)
        self._score, self._changes = score, changes

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        [ranked] = await super().retrieve(queries, k)
        changed: list[Any] = [{**one.passage, **self._changes} for one in ranked]
        return [[ScoredPassage(one, self._score) for one in changed]]


@pytest.mark.parametrize(
    "found", ["a text", make_passage("a", "b"), ({"id": "a", "text": "untitled"}, 1.0)]
)
async def test_a_retriever_that_finds_something_else_is_named(found: Any) -> None:
    class Odd:
        identity = "odd"

        async def retrieve(self, queries: Any, k: int) -> Any:
            return [[found]]

    with pytest.raises(ConfigurationError, match="^Odd found .* a ScoredPassage each"):
        await build(world(retriever=Odd())).ainvoke({"question": QUESTION})


@pytest.mark.parametrize(
    "wrong",
    [{"title": None}, {"text": 5}, {"score": "best"}, {"score": 10**400}, {"page": np.int64(3)}],
)
async def test_a_retriever_whose_passages_are_none_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="^Odd found .* a `title` and a `text`"):
        await build(world(retriever=Odd(**wrong))).ainvoke({"question": QUESTION})


@pytest.mark.parametrize(
    ("source", "kept"), [(None, None), (Path("a/b.txt"), "a/b.txt"), ("caf\udce9", "caf\ufffd")]
)
async def test_what_a_passage_has_besides_can_be_kept(saver: Any, source: Any, kept: Any) -> None:
    note = {"by": ["caf\udce9\0", None, True, float("nan")]}
    retriever = Odd(float("nan"), source=source, title="caf\udce9", note=note)
    graph = build(world(retriever=retriever), checkpointer=saver)
    result = await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1)
    assert [hop["scores"] for hop in result["hops"]] == [[0.0], [0.0]]
    passages = (await graph.aget_state(THREAD)).values["passages"]
    assert passages == result["passages"]
    for passage in passages.values():
        assert passage["note"] == {"by": ["caf\ufffd\ufffd", None, True, None]}
    document = await Runs(graph).document("t")
    found = {(one["title"], one.get("source")) for one in document["passages"].values()}
    assert found == {("caf\ufffd", kept)}
    json.dumps(document, allow_nan=False)


async def test_passages_that_share_an_id_are_told_apart() -> None:
    class First(ListRetriever):
        async def retrieve(self, queries: Any, k: int) -> list[list[ScoredPassage]]:
            [[(passage, score), *_]] = await super().retrieve(queries, k)
            text = f"{passage['text']}\ud800"
            return [[ScoredPassage({**passage, "id": "first", "text": text}, score)]]

    store, parts = InMemoryStore(), world(retriever=First(DOCUMENTS))
    result = await build(parts, store=store).ainvoke({"question": QUESTION}, context=TOP1)
    assert result["answer"] == "Narvik"
    assert parts["extractor"].calls == [["Aurora Bridge"], ["Mira Lund"]]
    assert [passage["text"][-1] for passage in result["passages"].values()] == ["\ufffd"] * 2
    other = world(retriever=First(DOCUMENTS[3:]))
    await build(other, store=store).ainvoke({"question": QUESTION}, context=TOP1)
    assert other["extractor"].calls == [["Harbour Bridge"]]


@pytest.mark.parametrize(
    "values",
    [
        {"triples": [["a", "b", "c"]]},
        {"triples": {"x": {"subject": "a", "predicate": "b"}}},
        {"triples": {"x": {"subject": "a", "predicate": "b", "object": "c", "passages": None}}},
        {"hops": [{"subquery": "no index"}]},
        {"hops": [{"index": 0, "dropped": [1]}]},
        {"hops": None},
        {"plans": [{"index": 7, "hop": 2, "label": 5, "subquery": "", "raw": ""}]},
        {"passages": ["x"]},
        {"passages": {"x": {"id": "x", "text": "no title"}}},
        {"passages": {"p": {"id": "p", "title": "t", "text": "x", "source": 7}}},
        {"extracted": [{"passage": "x"}]},
        {"usage": {"x": {"role": "planner"}}},
        {"triples": {5: {**FACT, "passages": []}}},
        {"plans": [{"index": 0, "label": None, "problem": 5}]},
        {"hops": Overwrite([{"index": 0}])},
        {"triples": Overwrite({"x": ["a", "b", "c"]})},
        {"hops": [{"index": 7, "subquery": "", "passages": [], "scores": []}]},
        {"plans": [{"index": 7, "hop": 2, "label": "SUBQ", "subquery": "x", "raw": ""}]},
        {"hops": [{"index": 0, "scores": ["a", "b", "c", "d"]}]},
        {"plans": [{"index": 0, "label": "MAYBE"}]},
        {"warnings": "abc"},
        {"warnings": [["a"]]},
        {"answer": None},
        {"citations": [{"triple": "x", "passages": [1]}]},
        {"stop_reason": []},
        {"triples": {DESIGNER: {**FACT, "passages": [["x"]]}}},
        {"question": ["Q?"]},
        {"context": ["x"]},
        {"context": {"max_hop": 1}},
    ],
)
async def test_a_malformed_edit_is_refused_before_it_is_stored(
    saver: Any, values: dict[str, Any]
) -> None:
    graph = build(world(["[SUBQ] x", SECOND]), checkpointer=saver)
    await graph.ainvoke({"question": QUESTION}, THREAD)
    before = await graph.aget_state(THREAD)
    with pytest.raises(InputError):
        await graph.aupdate_state(THREAD, values, as_node="merge_graph")
    assert await graph.aget_state(THREAD) == before


async def test_an_edited_passage_is_extracted_anew_and_leaves_others_runs_alone() -> None:
    store, extractor = InMemoryStore(), MappingExtractor(TRIPLES)
    graph = build(world(extractor=extractor), store=store, checkpointer=InMemorySaver())
    await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1, interrupt_after=["retrieve"])
    [(id, passage)] = (await graph.aget_state(THREAD)).values["passages"].items()
    other = {**passage, "title": "Harbour Bridge"}
    config = await graph.aupdate_state(THREAD, {"passages": {id: other}}, as_node="retrieve")
    await graph.ainvoke(None, config, context=TOP1)
    assert extractor.calls[0] == ["Harbour Bridge"]
    await build(world(extractor=extractor), store=store).ainvoke(
        {"question": QUESTION}, context=TOP1
    )
    assert ["Aurora Bridge"] in extractor.calls


async def test_a_hop_edited_to_name_an_unknown_passage_is_told_and_can_be_mended(
    saver: Any,
) -> None:
    graph = build(world(), checkpointer=saver)
    await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1, interrupt_after=["retrieve"])
    [hop] = (await graph.aget_state(THREAD)).values["hops"]
    wrong = {**hop, "passages": [*hop["passages"], "p9"], "scores": [1.0, 0.5]}
    await graph.aupdate_state(THREAD, {"hops": [wrong]}, as_node="retrieve")
    with pytest.raises(InputError, match=r"hop 0 names the passage 'p9'.*add it to `passages`"):
        await graph.ainvoke(None, THREAD, context=TOP1)
    await graph.aupdate_state(THREAD, {"hops": [hop]}, as_node="retrieve")
    assert (await graph.ainvoke(None, THREAD, context=TOP1))["answer"] == "Narvik"


async def test_a_plan_edited_to_have_no_subquery_is_told_and_can_be_mended(saver: Any) -> None:
    parts = world()
    graph = build(parts, checkpointer=saver)
    await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1, interrupt_after=["plan"])
    [plan] = (await graph.aget_state(THREAD)).values["plans"]
    await graph.aupdate_state(THREAD, {"plans": [{**plan, "subquery": " "}]}, as_node="plan")
    with pytest.raises(InputError, match="a `subquery`"):
        await graph.ainvoke(None, THREAD, context=TOP1)
    assert parts["retriever"].queries == []
    await graph.aupdate_state(THREAD, {"plans": [plan]}, as_node="plan")
    assert (await graph.ainvoke(None, THREAD, context=TOP1))["answer"] == "Narvik"


@pytest.mark.parametrize("node", ["retrieve", "to_triples"])
async def test_a_run_whose_hops_were_all_taken_out_is_told(saver: Any, node: str) -> None:
    graph = build(world(), checkpointer=saver)
    await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1, interrupt_after=[node])
    await graph.aupdate_state(THREAD, {"hops": Overwrite([])}, as_node=node)
    with pytest.raises(InputError, match="lost its hops"):
        await graph.ainvoke(None, THREAD, context=TOP1)


async def test_an_edited_triple_may_leave_out_its_passages() -> None:
    graph = build(world(), checkpointer=InMemorySaver())
    await graph.ainvoke({"question": QUESTION}, THREAD)
    fact = {"subject": "Mira Lund", "predicate": "place of birth", "object": "Bergen"}
    config = await graph.aupdate_state(THREAD, {"triples": {"x": fact}}, as_node="merge_graph")
    assert (await graph.aget_state(config)).values["triples"]["x"]["passages"] == []
