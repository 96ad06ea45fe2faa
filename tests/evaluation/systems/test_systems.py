"""Each system answers the two-hop question over the same corpus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from ras_flow import Context
from ras_flow.errors import ConfigurationError, InputError, ModelUnavailableError
from ras_flow.evaluation.systems import SYSTEMS, Ingredients, find_system
from ras_flow.parts.chosen import Parts
from ras_flow.parts.prompted import KeptText, PromptedHopReader
from ras_flow.runs import Runs
from ras_flow.runs.reading import get_branch, spent
from ras_flow.testing import (
    HashEncoder,
    ListRetriever,
    ScriptedAnswerer,
    ScriptedModel,
    ScriptedPlanner,
)
from tests.graph.one_call import usual
from tests.graph.world import DOCUMENTS, QUESTION, world


def react(text: str) -> str:
    if "born in Narvik" in text:
        return "Thought: It is Narvik.\nAction: Finish[Narvik]"
    if "designed by Mira Lund" in text:
        return "Thought: Mira Lund.\nAction: Search[Where was Mira Lund born?]"
    return "Thought: First the designer.\nAction: Search[designer of the Aurora Bridge]"


def self_ask(text: str) -> str:
    if "born in Narvik" in text:
        return "Intermediate answer: Narvik\nSo the final answer is: Narvik"
    if "designed by Mira Lund" in text:
        return "Intermediate answer: Mira Lund\nFollow up: Where was Mira Lund born?"
    return "Follow up: Who designed the Aurora Bridge?"


def ircot(text: str) -> str:
    if "born in Narvik" in text:
        return "So the answer is: Narvik"
    return "She was Mira Lund, an engineer. It is so."


def sure(text: str) -> str:
    if "Summary 1: " in text:
        return "1" if "Summary 1: for Narvik" in text else "2"
    if "Summary: " in text:
        return "true" if "Possible answer: Narvik" in text else "false"
    if "Possible answer: " in text:
        return f"for {text.rpartition(': ')[2]}"
    return "1. Bodø\n2. Narvik"


REPLIES: dict[str, Callable[[str], str]] = {
    "direct": lambda text: "Narvik",
    "single": lambda text: "Narvik" if "born in Narvik" in text else "unknown",
    "sure": sure,
    "react": react,
    "self_ask": self_ask,
    "ircot": ircot,
}
SEARCH = {"react": "Action: Search[{}]", "self_ask": "Follow up: {}?", "ircot": "It is {}."}


def build(kind: str, model: Any = None, *, top_k: int | None = 1, **changes: Any) -> Any:
    system = find_system(kind)
    settings = {"top_k": top_k, **system.budget, **system.fixed, **changes.pop("settings", {})}
    options = changes.pop("options", {})
    if settings.get("extractor") == "none":
        changes["extractor"] = KeptText()
    parts = Parts.of(**world(**changes), defaults=Context(**settings))
    return system.build(Ingredients(parts=parts, reader=model, options=options))


def needs(kind: str) -> int:
    """How many passages the system must find at once to answer the two-hop question."""
    return 4 if kind in ("single", "sure") else 1


async def test_a_baseline_searches_for_five_whatever_ras_s_answerer_reads() -> None:
    """The settings name `local:default`, which reads two and which no baseline asks."""
    documents = [{"title": f"Bridge {at}", "text": "A bridge."} for at in range(9)]
    model = ScriptedModel(lambda text: "a")
    await ask(build("single", model, top_k=None, retriever=ListRetriever(documents)))
    assert model.prompts[0][-1]["content"].count("A bridge.") == 5


async def ask(graph: Any, saver: InMemorySaver | None = None, **given: Any) -> dict[str, Any]:
    compiled = graph.compile(checkpointer=saver)
    result = await compiled.ainvoke(
        {"question": QUESTION, **given}, {"configurable": {"thread_id": "t1"}}
    )
    return dict(result)


@pytest.mark.parametrize(
    ("kind", "searches", "reason"),
    [
        ("direct", [], "no_retrieval"),
        ("single", [QUESTION], "sufficient"),
        ("sure", [QUESTION], "sufficient"),
        ("react", ["designer of the Aurora Bridge", "Where was Mira Lund born?"], "sufficient"),
        (
            "self_ask",
            ["Who designed the Aurora Bridge?", "Where was Mira Lund born?"],
            "sufficient",
        ),
        ("ircot", [QUESTION, "She was Mira Lund, an engineer."], "sufficient"),
    ],
)
async def test_a_baseline_answers_as_its_method_says_and_its_run_can_be_shown(
    kind: str, searches: list[str], reason: str
) -> None:
    # What a model says to itself first is no reply.
    thought = "<think>\nSearch[Oslo]? So the final answer is: Oslo\n</think>\n\n"
    model = ScriptedModel(lambda text: thought + REPLIES[kind](text))
    saver = InMemorySaver()
    result = await ask(build(kind, model, top_k=needs(kind)), saver)
    assert (result["answer"], result["stop_reason"]) == ("Narvik", reason)
    assert [hop["subquery"] for hop in result["hops"]] == searches
    assert not any("Oslo" in prompt[-1]["content"] for prompt in model.prompts)
    calls = sum(use["calls"] for use in result["usage"].values())
    assert calls == len(model.prompts)
    # RAS's own graph reads the thread.
    document = await Runs(build("ras").compile(checkpointer=saver)).document("t1")
    branch = get_branch(document)
    assert (branch["answer"], branch["status"]) == ("Narvik", "finished")
    assert spent(document, branch)["calls"] == calls
    assert [hop["subquery"] for hop in branch["hops"]] == searches


async def test_sure_chooses_the_candidate_whose_summary_wins_though_it_came_second() -> None:
    class Counting(ScriptedModel):
        calls, under_way, at_once = 0, 0, 0

        async def generate(self, *args: Any, **more: Any) -> Any:
            self.calls, self.under_way = self.calls + 1, self.under_way + 1
            self.at_once = max(self.at_once, self.under_way)
            await asyncio.sleep(0.05)
            self.under_way -= 1
            return await super().generate(*args, **more)

    model = Counting(sure)
    result = await ask(build("sure", model, top_k=4))
    assert result["answer"] == "Narvik"
    # Candidates, then two summaries, then two verdicts and the comparison in both orders.
    assert model.calls == 7 == result["usage"]["answer"]["calls"]
    assert model.at_once > 1


@pytest.mark.parametrize("kind", ["single", "sure"])
async def test_tokens_that_a_server_had_read_before_are_told(kind: str) -> None:
    class Caching(ScriptedModel):
        async def generate(self, *args: Any, **more: Any) -> Any:
            return [replace(one, cached_tokens=5) for one in await super().generate(*args, **more)]

    model = Caching(REPLIES[kind])
    result = await ask(build(kind, model, top_k=4))
    assert result["usage"]["answer"]["cached_tokens"] == 5 * len(model.prompts)


async def test_sure_asks_for_no_summaries_where_there_is_no_choice() -> None:
    one = ScriptedModel(lambda text: "1. Narvik\n2. narvik")
    assert (await ask(build("sure", one)))["answer"] == "Narvik"
    assert len(one.prompts) == 1
    replies = iter(["", "Narvik"])
    none = ScriptedModel(lambda text: next(replies))
    assert (await ask(build("sure", none)))["answer"] == "Narvik"


@pytest.mark.parametrize("kind", ["react", "self_ask", "ircot"])
async def test_a_model_that_writes_nonsense_is_asked_again_and_then_answers(kind: str) -> None:
    model = ScriptedModel(lambda text: "???")
    result = await ask(build(kind, model))
    assert (result["stop_reason"], result["answer"]) == ("no_progress", "???")
    assert len(model.prompts) == 3, "two attempts, and one reading of what was found"


@pytest.mark.parametrize("kind", list(SEARCH))
async def test_a_repeated_search_is_refused_once_and_then_ends_the_search(kind: str) -> None:
    result = await ask(build(kind, ScriptedModel(lambda text: SEARCH[kind].format("Aurora"))))
    searches = [hop["subquery"] for hop in result["hops"]]
    assert len(searches) == len(set(searches)) == (2 if kind == "ircot" else 1)
    assert result["stop_reason"] == "no_progress"


@pytest.mark.parametrize("kind", list(SEARCH))
async def test_hops_and_tokens_are_limited(kind: str) -> None:
    number = iter(range(100))
    model = ScriptedModel(lambda text: SEARCH[kind].format(f"bridge {next(number)}"))
    result = await ask(build(kind, model, settings={"max_hops": 3}))
    assert (len(result["hops"]), result["stop_reason"]) == (3, "max_hops")
    result = await ask(build(kind, model, settings={"max_tokens": 10}))
    assert result["stop_reason"] == "budget"
    assert sum(use["calls"] for use in result["usage"].values()) <= 3


@pytest.mark.parametrize("kind", ["single", "sure", "react", "self_ask", "ircot"])
async def test_given_documents_are_read_without_a_search_where_that_is_the_task(kind: str) -> None:
    model = ScriptedModel(REPLIES[kind])
    result = await ask(build(kind, model, settings={"planning": "static"}), documents=DOCUMENTS[:2])
    assert (len(result["hops"]), result["stop_reason"]) == (1, "static")
    assert "She was born in Narvik" in model.prompts[0][-1]["content"]


async def test_passages_that_do_not_fit_are_left_out_from_the_end_and_the_question_stays() -> None:
    model = ScriptedModel(REPLIES["single"], window=400)
    whole = await ask(build("single", model, top_k=4))
    assert not whole["warnings"] and "Harbour Bridge" in model.prompts[0][-1]["content"]
    used = sum(model.count_tokens(m["content"]) + 8 for m in model.prompts[0])
    small = ScriptedModel(REPLIES["single"], window=used - 20)
    cut = await ask(build("single", small, top_k=4))
    said = small.prompts[0][-1]["content"]
    assert QUESTION in said and "[Aurora Bridge]" in said
    assert cut["warnings"] and said.count("\n[") + 1 < 4
    with pytest.raises(InputError, match="larger window"):
        await ask(build("single", ScriptedModel(window=100), top_k=4))


@pytest.mark.parametrize("kind", ["direct", "single", "react"])
async def test_an_answer_that_is_cut_off_is_told(kind: str) -> None:
    class Limited(ScriptedModel):
        async def generate(self, *args: Any, **more: Any) -> Any:
            return [replace(one, truncated=True) for one in await super().generate(*args, **more)]

    result = await ask(build(kind, Limited(lambda text: "Narvik is a town in"), top_k=4))
    [warning] = result["warnings"]
    assert "limit of new tokens" in warning


async def test_a_reader_that_fails_after_a_hop_leaves_the_answer_to_what_was_found() -> None:
    asked = []

    def reply(text: str) -> str:
        asked.append(text)
        if len(asked) == 2:
            raise ModelUnavailableError("gone")
        return react(text)

    result = await ask(build("react", ScriptedModel(reply)))
    assert (result["stop_reason"], result["warnings"]) == ("error", ["gone"])


@pytest.mark.parametrize(
    ("kind", "hops", "answer", "plans"),
    [
        ("ras", 2, "Narvik", 3),
        ("ras_no_retrieval", 0, "elsewhere", 0),
        ("ras_no_graph", 2, "Narvik", 3),
        ("ras_no_planning", 1, "elsewhere", 0),
        ("ras_share", 2, "Narvik", 3),
    ],
)
async def test_an_ablation_leaves_out_one_thing(
    kind: str, hops: int, answer: str, plans: int
) -> None:
    result = await ask(build(kind))
    assert (len(result["hops"]), result["answer"]) == (hops, answer)
    planned = [use["calls"] for use in result["usage"].values() if use["role"] == "planner"]
    assert sum(planned) == plans


@pytest.mark.parametrize(("kind", "soft"), [("ras", True), ("ras_no_graph", False)])
async def test_without_graph_encoding_no_role_gets_soft_tokens(kind: str, soft: bool) -> None:
    planner = ScriptedPlanner(["[SUBQ] x"], takes_soft_tokens=True)
    answerer = ScriptedAnswerer("a", takes_soft_tokens=True)
    await ask(build(kind, planner=planner, answerer=answerer))
    assert (planner.requests[-1].graph is not None) == soft
    assert (answerer.requests[-1].graph is not None) == soft
    assert answerer.requests[-1].chain[0].triples


@pytest.mark.parametrize(
    ("kind", "options", "edges", "facts"),
    [
        ("ras", {}, 2, 2),
        ("ras_no_graph", {}, None, 2),
        ("ras_share", {"share": 0}, 0, 0),
    ],
)
async def test_with_one_call_a_hop_a_part_can_be_left_out_of_the_answer(
    kind: str, options: dict[str, float], edges: int | None, facts: int
) -> None:
    answerer = ScriptedAnswerer("Narvik", takes_soft_tokens=True)
    parts = Parts(
        hop_reader=PromptedHopReader(ScriptedModel(usual)),
        answerer=answerer,
        retriever=ListRetriever(DOCUMENTS),
        encoder=HashEncoder(),
        defaults=Context(top_k=1),
    )
    await ask(find_system(kind).build(Ingredients(parts=parts, options=options)))
    [request] = answerer.requests
    assert (request.graph and len(request.graph.edges)) == edges
    assert sum(len(link.triples) for link in request.chain) == facts


def test_an_ablation_of_who_answers_is_refused_where_the_reader_of_hops_does() -> None:
    with pytest.raises(ConfigurationError, match='set loop = "paper"'):
        find_system("ras_no_graph").build(Ingredients(parts=Parts()))


async def test_without_triples_the_answerer_reads_passages() -> None:
    answerer = ScriptedAnswerer("a")
    await ask(build("ras_no_triples", answerer=answerer))
    [request] = answerer.requests
    assert not request.chain[0].triples
    assert request.chain[0].passages[0]["title"] == "Aurora Bridge"


async def test_a_larger_share_holds_all_that_a_smaller_one_does() -> None:
    async def seen(share: float, shuffle: int = 1) -> set[tuple[str, str]]:
        answerer = ScriptedAnswerer("a", takes_soft_tokens=True)
        options = {"share": share, "shuffle": shuffle}
        await ask(build("ras_share", answerer=answerer, options=options, top_k=4))
        [request] = answerer.requests
        triples = {(t["predicate"], t["object"]) for one in request.chain for t in one.triples}
        assert (graph := request.graph) is not None
        objects = [graph.nodes[at] for at in graph.edge_index[1]]
        assert set(zip(graph.edges, objects, strict=True)) == triples
        assert len(graph.nodes) == len(graph.node_attr)
        return triples

    whole, half, third = await seen(1.0), await seen(0.5), await seen(0.3)
    assert third < half < whole and len(half) == len(whole) / 2
    assert await seen(0) == set()
    assert await seen(0.5) == half
    assert len({frozenset(await seen(0.3, shuffle)) for shuffle in range(1, 6)}) > 1


def test_settings_that_make_no_sense_are_named() -> None:
    with pytest.raises(ConfigurationError, match="'magic'"):
        find_system("magic")
    with pytest.raises(ConfigurationError, match="share = -1"):
        build("ras_share", options={"share": -1})
    assert set(REPLIES) == {kind for kind, system in SYSTEMS.items() if system.baseline}


@pytest.mark.parametrize("kind", ["react", "self_ask", "ircot", "sure"])
async def test_the_form_of_the_answer_is_asked_of_the_answer_alone(kind: str) -> None:
    """A model that obeys "reply with 'true' or 'false' only" at each step would never search."""
    model = ScriptedModel(REPLIES[kind])
    await ask(build(kind, model, settings={"task": "fact_check"}))
    first = model.prompts[0][-1]["content"]
    assert "How to give the final answer, once it is known: Is the statement true" in first
    assert first.index("Question: ") < first.index("How to give")


async def test_react_searches_for_its_action_not_for_what_its_thought_tells() -> None:
    thought = "Thought: My first search (designer of the Aurora Bridge) found Mira Lund."
    model = ScriptedModel(lambda text: react(text).replace("Thought: Mira Lund.", thought))
    result = await ask(build("react", model))
    assert (result["answer"], len(model.prompts)) == ("Narvik", 3)
    assert f"{thought}\nAction: Search[Where" in model.prompts[-1][-1]["content"]
