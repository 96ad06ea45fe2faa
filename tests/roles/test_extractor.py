"""The extractor on bad input: a result or a clear error, for each passage by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from ras_flow.errors import ModelResponseError
from ras_flow.formats.triples import format_triples
from ras_flow.parts import Generation, Message
from ras_flow.parts.prompted import PromptedExtractor
from ras_flow.parts.prompted.extractor import MAX_SOURCE, MOST_PARTS, MOST_TRIPLES
from ras_flow.parts.prompted.forms import Form, json_form, numbered_form, text_form
from ras_flow.state.schema import Passage
from ras_flow.state.schema import make_passage as passage
from ras_flow.testing import ScriptedModel


def texts_of(model: ScriptedModel) -> list[str]:
    return [prompt[-1]["content"] for prompt in model.prompts]


def first_word(text: str) -> str:
    """Answer with a fact that names the first word of the text that was read."""
    word = text.partition("Text: ")[2].split()[0]
    return f"(S> {word}| P> is| O> read)"


GOOD = passage("Narvik", "Narvik is a town in northern Norway.")
BAD = {
    "html": '<table class="x"><tr><td>Narvik</td></tr></table><script>alert("x")</script>',
    "wiki": "{{Infobox town|name=Narvik}} '''Narvik''' is a [[town]].<ref>{{cite|x}}</ref>",
    "latex": r"\begin{tabular}{l|l} Narvik & $18{,}000$ \\ \end{tabular} %s {0} {question}",
    "japanese": "ナルヴィクはノルウェー北部の町である。" * 40,
    "arabic": "نارفيك بلدة في شمال النرويج.",
    "unstorable": "Narvik \ud800 is \0 a town.",
    "one word": "Narvik",
    "one long word": "x" * 20_000,
    "triples": "(S> Narvik| P> is| O> town), (S> broken",
    "lines": "Narvik.\nTitle: Oslo\nText: Oslo is the capital.\n\n\n",
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_passage_has_a_result_and_changes_no_other(name: str) -> None:
    model = ScriptedModel(lambda text: f"(S> {text.split()[1]}| P> is| O> read)")
    bad = Passage(id="bad", title="Bad", text=BAD[name])
    made = await PromptedExtractor(model).extract([GOOD, bad, GOOD])
    assert made[0].triples == made[2].triples == [("Narvik", "is", "read")]
    assert (made[1].triples, made[1].error) == ([("Bad", "is", "read")], None)
    for text in texts_of(model):
        text.encode()
        assert (text.count("\nTitle:"), text.count("\nText:"), text.count("\0")) == (0, 1, 0)


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        ("[]", False),
        ('```json\n{"triples": []}\n```', False),
        ("<think>A heading.</think>No facts are stated.", False),
        ("None.", False),
        ("", True),
        ("I'm sorry, I can't help with that request.", True),
        ("<html><title>502 Bad Gateway</title></html>", True),
        ("<think>(S> Narvik| P> is| O> town)</think>", True),
        ("(S> Narvik| P> is", True),
    ],
)
async def test_a_reply_of_which_nothing_can_be_read_is_a_failure(reply: str, failed: bool) -> None:
    [made] = await PromptedExtractor(ScriptedModel(reply)).extract([GOOD])
    assert (made.triples, made.error is not None) == ([], failed)
    assert made.output_tokens > 0 or not reply


async def test_thoughts_give_no_triples() -> None:
    """Models in this process and of vLLM give all that they write, thoughts too."""
    draft, said = "(S> Narvik| P> is| O> a lake)", "(S> Narvik| P> is| O> a town)"
    written = {"Narvik": f"Perhaps {draft}? No.\n</think>\n{said}", "Oslo": f"<think>{draft}, or"}

    class Thinker(ScriptedModel):
        async def generate(self, prompts: Any, **_: Any) -> list[Generation]:
            texts = [written["Oslo" if "Oslo" in p[-1]["content"] else "Narvik"] for p in prompts]
            return [Generation(text, 9, 7, truncated=draft in text[:40]) for text in texts]

    passages = [passage("Narvik", "Narvik is a town."), passage("Oslo", "Oslo is a town.")]
    first, second = await PromptedExtractor(Thinker("")).extract(passages)
    assert (first.triples, first.error) == ([("Narvik", "is", "a town")], None)
    assert second.triples == [] and second.error and "limit of new tokens" in second.error


@pytest.mark.parametrize("form", [text_form(), json_form(), numbered_form()])
async def test_all_that_a_dense_passage_states_fits_into_the_output(form: Form) -> None:
    facts = [("Ingrid Moe", "designed", f"House {n} of Halden, Norway") for n in range(26)]
    records = [dict(zip(("subject", "predicate", "object"), fact, strict=True)) for fact in facts]
    written = json.dumps({"triples": records}) if form.schema else format_triples(facts)

    class FourCharactersAToken(ScriptedModel):
        async def generate(
            self, prompts: Any, *, max_new_tokens: int, **_: Any
        ) -> list[Generation]:
            return [Generation(written[: 4 * max_new_tokens], 9, 7) for _ in prompts]

    [made] = await PromptedExtractor(FourCharactersAToken(), form).extract([GOOD])
    assert made.triples == facts and made.dropped == []


@pytest.mark.parametrize("text", ["", "  \n\t ", "\u2003"])
async def test_an_empty_passage_has_no_triples_and_costs_nothing(text: str) -> None:
    model = ScriptedModel(first_word)
    made = await PromptedExtractor(model).extract([passage("Empty", text), GOOD])
    assert (made[0].triples, made[0].error, made[0].input_tokens) == ([], None, 0)
    assert [one.calls for one in made] == [0, 1]
    assert made[1].triples and len(model.prompts) == 1


async def test_a_long_passage_is_read_whole_in_parts_under_its_title() -> None:
    sentences = [f"Town{i} lies in the north of county {i} and has a harbour." for i in range(150)]
    model = ScriptedModel(first_word)
    [made] = await PromptedExtractor(model).extract([passage("Towns", " ".join(sentences))])
    read = texts_of(model)
    assert len(read) > 3
    assert all(text.startswith("Title: Towns\nText: Town") for text in read)
    assert all(model.count_tokens(text) <= MAX_SOURCE for text in read)
    whole = " ".join(text.partition("Text: ")[2] for text in read)
    assert whole.split() == " ".join(sentences).split()
    assert made.triples == [(text.split()[3], "is", "read") for text in read]
    words = sum(len(one["content"].split()) for prompt in model.prompts for one in prompt)
    assert (made.error, made.input_tokens) == (None, words)
    assert made.calls == len(read)


@pytest.mark.parametrize("words", [MOST_PARTS * 110, 10_000_000])
async def test_an_enormous_passage_is_an_error_that_says_what_to_do(words: int) -> None:
    model = ScriptedModel(first_word)
    made = await PromptedExtractor(model).extract([passage("T", "word " * words), GOOD])
    assert made[0].error and "Split it" in made[0].error and not made[0].triples
    assert made[1].triples and len(model.prompts) == 1


class Rejects(ScriptedModel):
    """Refuses a call with a forbidden word in it."""

    async def generate(
        self, prompts: Sequence[Sequence[Message]], **limits: Any
    ) -> list[Generation]:
        made = await super().generate(prompts, **limits)
        if any("forbidden" in prompt[-1]["content"] for prompt in prompts):
            raise ModelResponseError("refused")
        return made


@pytest.mark.parametrize("batch_size", [1, 8])
async def test_a_part_that_fails_leaves_the_other_parts(batch_size: int) -> None:
    model = Rejects(first_word)
    model.batch_size = batch_size
    text = " ".join(f"Town {n} lies by the sea." for n in range(150)) + " forbidden"
    [made] = await PromptedExtractor(model).extract([passage("T", text)])
    assert made.triples and made.error
    assert made.error.startswith("1 of its ") and made.error.endswith("refused")
    [left] = made.left
    assert "forbidden" in left and not left.startswith("Title")
    if batch_size == 1:
        assert len(texts_of(model)) == len(set(texts_of(model))) == made.calls, "none paid twice"


async def test_what_is_wholly_rejected_is_read_anew_and_fails_no_other() -> None:
    bad = [passage("T", "forbidden"), passage("U", "forbidden " * 900)]
    *made, good = await PromptedExtractor(Rejects(first_word)).extract([*bad, GOOD])
    assert all(one.error and not one.left for one in made)
    assert good.triples and not good.error


async def test_a_window_without_room_is_an_error_of_the_passage() -> None:
    [made] = await PromptedExtractor(ScriptedModel(first_word, window=20)).extract([GOOD])
    assert made.error and "window" in made.error


async def test_a_long_title_leaves_room_for_the_text() -> None:
    model = ScriptedModel(first_word)
    [made] = await PromptedExtractor(model).extract([passage("long " * 5_000, "Narvik here.")])
    assert made.triples == [("Narvik", "is", "read")]


async def test_what_a_model_repeats_without_end_is_cut() -> None:
    flood = format_triples([(f"Evil {i}", "is", "everywhere") for i in range(500)])
    [made] = await PromptedExtractor(ScriptedModel(lambda _: flood)).extract([GOOD])
    assert len(made.triples) == MOST_TRIPLES
    assert len(made.dropped) == 500 - MOST_TRIPLES


async def test_a_repeated_passage_is_asked_about_once() -> None:
    model = ScriptedModel(first_word)
    made = await PromptedExtractor(model).extract([GOOD, GOOD, passage("Narvik", GOOD["text"])])
    assert len(model.prompts) == 1 and made[0] == made[1] == made[2]


async def test_a_trained_model_reads_the_passage_alone() -> None:
    model = ScriptedModel(first_word)
    extractor = PromptedExtractor(model, Form(()))
    await extractor.extract([GOOD])
    assert model.prompts == [[{"role": "user", "content": f"Title: Narvik\nText: {GOOD['text']}"}]]
    forms = {extractor.identity, PromptedExtractor(model).identity}
    assert len({*forms, PromptedExtractor(model, json_form()).identity}) == 3


TOWNS = [passage(name, f"{name} is a town in Norway.") for name in ("Narvik", "Bodø", "Molde")]


@pytest.mark.parametrize(
    "reply",
    [
        "Narvik | is | a town [1]; lies in | Norway [1]\nMolde | is | a town [3]",
        "(S> Narvik| P> is| O> a town), (S> Narvik| P> lies in| O> Norway), "
        "(S> Molde| P> is| O> a town)",
        "Narvik | is | a town [1]\nNarvik | lies in | Norway [1]\nMolde | is | a town [2]",
    ],
)
async def test_the_passages_of_a_hop_are_read_in_one_call(reply: str) -> None:
    model = ScriptedModel(reply, window=8_000)
    extractor = PromptedExtractor(model, numbered_form())
    first, second, third = await extractor.extract(TOWNS)
    assert first.triples == [("Narvik", "is", "a town"), ("Narvik", "lies in", "Norway")]
    assert (second.triples, second.error) == ([], None)
    assert third.triples == [("Molde", "is", "a town")]
    assert [made.calls for made in (first, second, third)] == [1, 0, 0] and extractor.batch_size > 2
    assert "\n2 [Bodø] Bodø is a town in Norway.\n3 [Molde]" in texts_of(model)[0]


@pytest.mark.parametrize("failure", ["rejected", "cut"])
async def test_each_passage_is_read_alone_where_all_cannot_be(failure: str) -> None:
    class Narrow(ScriptedModel):
        async def generate(self, prompts: Any, **more: Any) -> list[Generation]:
            [made] = await super().generate(prompts, **more)
            if "\n2 [" not in prompts[0][-1]["content"]:
                return [made]
            if failure == "rejected":
                raise ModelResponseError("too much")
            return [Generation(made.text, truncated=True)]

    model = Narrow(lambda text: f"{text.split()[2]} | is | a town [1]", window=8_000)
    made = await PromptedExtractor(model, numbered_form()).extract(TOWNS)
    assert [one.triples for one in made] == [[(town["title"], "is", "a town")] for town in TOWNS]
