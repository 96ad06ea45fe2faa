"""Planner, extractor and answerer over a language model that records what it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from ras_flow.errors import AuthenticationError, InputError
from ras_flow.formats.history import format_history
from ras_flow.formats.normalize import normalize_question
from ras_flow.formats.plan import format_plan, parse_plan
from ras_flow.formats.triples import format_triples, parse_triples
from ras_flow.llms import ChatLanguageModel
from ras_flow.parts import AnswerRequest, ChainLink, Generation, Message, PlanRequest
from ras_flow.parts.prompted import PromptedAnswerer, PromptedExtractor, PromptedPlanner
from ras_flow.prompts import answerer, extractor
from ras_flow.state.schema import Passage, Triple
from ras_flow.testing import ScriptedModel
from tests.formats.parsed_history import parse_history


def triple(subject: str) -> Triple:
    return Triple(subject=subject, predicate="place of birth", object="Narvik", passages=["p"])


def passage(title: str) -> Passage:
    return Passage(id=title, title=title, text=f"{title} is {{here}}.")


CHAIN = [ChainLink("Where was Mira Lund born?", [triple("Mira Lund")])]


async def test_the_first_plan_has_no_sufficient_among_its_examples() -> None:
    model = ScriptedModel(lambda _: "[SUBQ] who?")
    [first] = await PromptedPlanner(model).plan([PlanRequest("Q {x}?")])
    await PromptedPlanner(model).plan([PlanRequest("Q {x}?", CHAIN)])
    replies = [
        [m["content"] for m in prompt if m["role"] == "assistant"] for prompt in model.prompts
    ]
    assert "[SUFFICIENT]" not in replies[0] and "[NO_RETRIEVAL]" in replies[0]
    assert "[SUFFICIENT]" in replies[1] and "[NO_RETRIEVAL]" not in replies[1]
    assert model.prompts[0][-1]["content"].endswith("Question: Q {x}?")
    assert "(S> Mira Lund| P> place of birth| O> Narvik)" in model.prompts[1][-1]["content"]
    words = sum(len(message["content"].split()) for message in model.prompts[0])
    assert (first.text, first.input_tokens, first.output_tokens) == ("[SUBQ] who?", words, 2)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Here is my plan:\n[SUBQ] Who?", ("SUBQ", "Who?")),
        ("<think>\n\n</think>\n\n[SUBQ] Who?", ("SUBQ", "Who?")),
        ("◁think▷[SUFFICIENT]?◁/think▷[SUBQ] Who?", ("SUBQ", "Who?")),
        ("Maybe\n[NO_RETRIEVAL]\n[x]?\n</think>\n[SUBQ] Who?", ("SUBQ", "Who?")),
        ("[SUBQ]\n[SUBQ] Who?", ("SUBQ", "Who?")),
        ("[SUBQ] Who?\n[SUFFICIENT]", ("SUBQ", "Who?")),
        ("Plan:\n[SUFFICIENT]\n[SUBQ] Who?", ("SUFFICIENT", "")),
        ("[SUBQ] Who?\nQuestion: x\n[SUFFICIENT]", ("SUBQ", "Who?")),
        ("It is\n[x", (None, "")),
    ],
)
async def test_a_plan_is_read_from_any_line_and_ends_where_the_model_plays_on(
    written: str, read: tuple[str | None, str]
) -> None:
    [reply] = await PromptedPlanner(ScriptedModel(lambda _: written)).plan(
        [PlanRequest("Q?", CHAIN)]
    )
    plan = parse_plan(reply.text)
    assert (plan.label, plan.subquery) == read


async def test_chat_models_read_facts_by_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ChatLanguageModel(FakeListChatModel(responses=[]))
    scripted = ScriptedModel("Narvik")
    monkeypatch.setattr(model, "generate", scripted.generate)
    born = triple("Mira Lund")
    chain = [ChainLink("Who?", [born, triple("Leo Fahr"), {**born, "predicate": "lived in"}])]
    await PromptedPlanner(model).plan([PlanRequest("Q?", chain, may_give_up=True)])
    await PromptedAnswerer(model).answer([AnswerRequest("Q?", chain, grouped=True)])
    for prompt in scripted.prompts:
        assert prompt[-1]["content"] == (
            "[SUBQ] Who?\nRetrieved Graph Information: "
            "Mira Lund | place of birth | Narvik; lived in | Narvik\n"
            "Leo Fahr | place of birth | Narvik\nQuestion: Q?"
        )
        assert not any("S>" in message["content"] for message in prompt)


async def test_the_reason_for_asking_again_is_told() -> None:
    model = ScriptedModel()
    request = PlanRequest("Q?", CHAIN, problem="The subquery '{0}' was already asked.")
    await PromptedPlanner(model).plan([request])
    assert "The subquery '{0}' was already asked." in model.prompts[0][-1]["content"]


@pytest.mark.parametrize("role", ["planner", "answerer"])
async def test_a_history_that_is_too_long_loses_triples_and_says_so(role: str) -> None:
    model = ScriptedModel(window=400)
    chain = [ChainLink("Who?", [triple(f"Person {i}") for i in range(100)])]
    if role == "planner":
        [reply] = await PromptedPlanner(model).plan([PlanRequest("Who is Person 7?", chain)])
    else:
        request = AnswerRequest("Who is Person 7?", chain)
        [reply] = await PromptedAnswerer(model).answer([request])
    text = model.prompts[0][-1]["content"]
    assert 0 < text.count("(S>") == 100 - reply.lost_triples < 100
    assert text.endswith("Question: Who is Person 7?") and "Person 7|" in text
    assert sum(model.count_tokens(m["content"]) for m in model.prompts[0]) <= model.window


async def test_a_question_longer_than_the_window_is_refused() -> None:
    with pytest.raises(InputError):
        await PromptedPlanner(ScriptedModel(window=300)).plan([PlanRequest("word " * 400)])


async def test_an_answer_that_came_to_its_limit_says_so() -> None:
    class Limited(ScriptedModel):
        async def generate(self, prompts: Any, **_: Any) -> list[Generation]:
            return [Generation("It is the", truncated=True) for _ in prompts]

    [cut] = await PromptedAnswerer(Limited()).answer([AnswerRequest("Q?", CHAIN)])
    [whole] = await PromptedAnswerer(ScriptedModel()).answer([AnswerRequest("Q?", CHAIN)])
    assert cut.truncated and not whole.truncated


async def test_every_role_counts_the_tokens_that_a_server_had_read_before() -> None:
    class Cached(ScriptedModel):
        async def generate(self, prompts: Any, **_: Any) -> list[Generation]:
            return [Generation("[SUBQ] who?", 9, 2, cached_tokens=4) for _ in prompts]

    [plan] = await PromptedPlanner(Cached()).plan([PlanRequest("Q?")])
    [answer] = await PromptedAnswerer(Cached()).answer([AnswerRequest("Q?")])
    [made] = await PromptedExtractor(Cached()).extract([passage("Narvik")])
    assert [one.cached_tokens for one in (plan, answer, made)] == [4, 4, 4]


@pytest.mark.parametrize(("written", "cut"), [("[SUBQ] Where was", True), ("[SUBQ] a?\n[x", False)])
async def test_a_plan_says_that_it_came_to_its_limit_unless_it_was_whole_before(
    written: str, cut: bool
) -> None:
    class Limited(ScriptedModel):
        async def generate(self, prompts: Any, **_: Any) -> list[Generation]:
            return [Generation(written, truncated=True) for _ in prompts]

    [plan] = await PromptedPlanner(Limited()).plan([PlanRequest("Q?")])
    assert plan.truncated is cut


async def test_no_answer_is_paid_for_after_a_refused_key() -> None:
    refused = asyncio.Event()

    class Refusing(ScriptedModel):
        async def generate(
            self, prompts: Sequence[Sequence[Message]], **more: Any
        ) -> list[Generation]:
            if "Refused?" in prompts[0][-1]["content"]:
                refused.set()
                raise AuthenticationError("The key was refused.")
            await refused.wait()
            await asyncio.sleep(0.01)
            return await super().generate(prompts, **more)

    model = Refusing(lambda _: "a")
    requests = [AnswerRequest(question) for question in ("Refused?", "Q1?", "Q2?")]
    with pytest.raises(AuthenticationError):
        await PromptedAnswerer(model).answer(requests)
    await asyncio.sleep(0.05)
    assert not model.prompts


async def test_long_answers_have_two_examples_and_a_limit_of_their_own() -> None:
    model = ScriptedModel()
    answerer = PromptedAnswerer(model)
    await answerer.answer([AnswerRequest("Q?", CHAIN)])
    await answerer.answer([AnswerRequest("Q?", max_new_tokens=300)])
    words = [
        [len(m["content"].split()) for m in prompt if m["role"] == "assistant"]
        for prompt in model.prompts
    ]
    assert len(words[0]) == len(words[1]) == 2
    assert max(words[0]) <= 3 and min(words[1]) > 15
    assert model.limits == [100, 300]


async def test_the_planner_is_shown_every_case_of_appendix_f1() -> None:
    model = ScriptedModel()
    planner = PromptedPlanner(model)
    await planner.plan([PlanRequest("Q?")])
    await planner.plan([PlanRequest("Q?", CHAIN)])
    first, after = (
        [(a["content"], b["content"]) for a, b in pairwise(prompt) if b["role"] == "assistant"]
        for prompt in model.prompts
    )
    unsearched = [given for given, wanted in first if wanted == "[NO_RETRIEVAL]"]
    assert len(unsearched) == 2, "common knowledge, and what no search can answer"
    labels = [wanted.split()[0] for _, wanted in after]
    assert labels.count("[SUFFICIENT]") == 1 and labels.count("[SUBQ]") == 3
    for given, wanted in first + after:
        plan = parse_plan(wanted)
        assert plan.label and wanted == format_plan(plan.label, plan.subquery)
        parsed = parse_history(given)
        assert normalize_question(plan.subquery) not in {
            normalize_question(subquery) for subquery, _ in parsed.chain
        }


def test_examples_have_the_form_of_real_prompts() -> None:
    for given, _ in answerer.EXAMPLES + answerer.LONG_FORM_EXAMPLES:
        parsed = parse_history(given)
        chain = [
            ChainLink(
                subquery,
                [Triple(subject=s, predicate=p, object=o, passages=[]) for s, p, o in triples],
            )
            for subquery, triples in parsed.chain
        ]
        assert format_history(parsed.question, chain).text == given
    for _, wanted in extractor.EXAMPLES:
        found = parse_triples(wanted)
        assert format_triples(found.triples) == wanted and not found.dropped


async def test_passages_are_extracted_in_order_with_what_was_dropped() -> None:
    def answer(text: str) -> str:
        title = text.splitlines()[0].removeprefix("Title: ")
        return f"(S> {title}| P> is| O> here), (S> broken"

    model = ScriptedModel(answer)
    made = await PromptedExtractor(model).extract([passage("A1"), passage("B2")])
    assert [extraction.triples for extraction in made] == [
        [("A1", "is", "here")],
        [("B2", "is", "here")],
    ]
    assert all(extraction.dropped and extraction.error is None for extraction in made)
    assert model.prompts[0][-1]["content"] == "Title: A1\nText: A1 is {here}."
    assert await PromptedExtractor(model).extract([]) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("prompts.extractor.INSTRUCTION", "x"), ("parts.prompted.extractor.LOOP", 9)],
)
def test_another_prompt_or_end_of_texts_is_another_extractor(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    before = PromptedExtractor(ScriptedModel()).identity
    monkeypatch.setattr(f"ras_flow.{name}", value)
    assert PromptedExtractor(ScriptedModel()).identity != before
    assert before.startswith("testing:model")
