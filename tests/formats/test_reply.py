"""Thoughts, channels and end tokens are told from what a reply says, by where they stand."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ras_flow.formats.answer import clean_answer
from ras_flow.formats.hop_reply import parse_hop_reply
from ras_flow.formats.plan import ParsedPlan, parse_plan
from ras_flow.formats.reply import spoken

THOUGHT = "Was it Bodø?\n[NO_RETRIEVAL]\n(S> Aalto| P> born in| O> Helsinki)? No."
SERVED = {
    "Qwen": "<think>\n{thought}\n</think>\n\n{said}",
    "DeepSeek-R1, whose prompt opens the thought": "{thought}\n</think>\n\n{said}",
    "the same on one line": "{thought}</think> {said}",
    "two thoughts": "<think>{thought}</think>\n<think>Sure.</think>{said}",
    "EXAONE Deep": "<thought>{thought}</thought>\n{said}",
    "Seed-OSS": "<seed:think>{thought}</seed:think>{said}",
    "Claude, prompted": "<Thinking>{thought}</Thinking>{said}",
    "prompted": "<reasoning>{thought}</reasoning>\n{said}",
    "Magistral": "[THINK]{thought}[/THINK]{said}",
    "Kimi": "◁think▷{thought}◁/think▷{said}",
    "Gemma 4": "<|channel>thought\n{thought}\n<channel|>{said}<turn|>",
    "MedGemma": "<unused94>thought\n{thought}<unused95>{said}<end_of_turn>\n",
    "Command A": "<|START_THINKING|>{thought}<|END_THINKING|><|START_TEXT|>{said}<|END_TEXT|>",
    "Command R": "<|START_RESPONSE|>{said}<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
    "OpenThinker": "<|begin_of_thought|>\n{thought}\n<|end_of_thought|>\n"
    "<|begin_of_solution|>\n{said}\n<|end_of_solution|>",
    "Hunyuan": "<think>\n{thought}\n</think>\n<answer>\n{said}\n</answer>",
    "Granite": "Here is my thought process: {thought}\n\nHere is my response: {said}",
    "Apriel": "Here are my reasoning steps:\n{thought}\n[BEGIN FINAL RESPONSE]\n{said}\n"
    "[END FINAL RESPONSE]",
    "gpt-oss": "<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final"
    "<|message|>{said}<|return|>",
    "gpt-oss, with a tool": "<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant"
    "<|channel|>commentary to=functions.f<|message|>{{}}<|end|><|start|>assistant<|channel|>final "
    "<|constrain|>JSON<|message|>{said}",
    "gpt-oss, at once": "<|channel|>final<|message|>{said}",
    "gpt-oss, whose prompt opens the channel": "{thought}<|end|><|start|>assistant<|channel|>final"
    "<|message|>{said}",
    "gpt-oss, without special tokens": "analysis{thought}assistantfinal{said}",
    "ChatML": "{said}<|im_end|>",
    "ChatML, that goes on": "{said}<|im_end|>\n<|im_start|>user\nAnd Bodø?",
    "Llama": "<|start_header_id|>assistant<|end_header_id|>\n\n{said}\n<|eot_id|>",
    "Mistral": "{said}</s>",
}


@pytest.mark.parametrize("said", ["Narvik", "[SUBQ] Where?", "(S> a| P> b| O> c)", '"</think>"'])
@pytest.mark.parametrize("form", SERVED.values(), ids=SERVED)
def test_what_is_said_is_told_from_what_servers_leave_in(form: str, said: str) -> None:
    assert spoken(form.format(thought=THOUGHT, said=said)).strip() == said


@pytest.mark.parametrize("form", SERVED.values(), ids=SERVED)
def test_every_role_reads_what_is_said(form: str) -> None:
    def written(said: str) -> str:
        return form.format(thought=THOUGHT, said=said)

    assert clean_answer(written("Answer: Narvik")) == "Narvik"
    assert parse_plan(written("[SUBQ] Where?")) == ParsedPlan("SUBQ", "Where?", wants_subquery=True)
    hop = parse_hop_reply(written("Narvik | lies in | Norway [1]\n[ANSWER] Narvik [1]"))
    assert [fact.spo for fact in hop.facts] == [("Narvik", "lies in", "Norway")]
    assert (hop.label, hop.text, list(hop.numbers)) == ("ANSWER", "Narvik", [1])


MENTIONS = [
    "It writes its reasoning between <think> and </think> tags.",
    "<think>",
    "`<think>`",
    "<think> and </think>",
    "<think>/</think>",
    "The opening tag is <think>, closed before the answer.",
    "The closing tag is </think>.",
    "DeepSeek-R1 writes the closing one alone (</think>).",
    "Magistral's is [/THINK], and Kimi's ◁/think▷, at the end.",
    "It puts <think>…</think> around its reasoning.",
    "- `<reasoning>`\n- `</reasoning>`",
    "It looks like this:\n```\n<think>\nHm.\n</think>\n\nParis\n```",
    "(S> Qwen3| P> opening tag| O> <think>), (S> Qwen3| P> closing tag| O> </think>)",
    '[{"subject": "Qwen3", "predicate": "closing tag", "object": "</think>"}]',
    "gpt-oss writes <|channel|>analysis<|message|> first.",
    "ChatML ends a turn with <|im_end|>",
    "`<|eot_id|>`",
    "<|im_end|>",
    "analysis of an assistant's finals",
]


@pytest.mark.parametrize("text", MENTIONS)
def test_a_text_that_mentions_a_tag_keeps_it(text: str) -> None:
    assert spoken(text) == text
    assert spoken(f"<think>{THOUGHT}</think>\n{text}").strip() in ("", text)


@pytest.mark.parametrize(
    "text",
    [
        "<think>It may be",
        "[THINK]It may be",
        "<think></think>",
        "<|channel|>analysis<|message|>We need",
        "analysisWe need",
        "<|START_RESPONSE|><|END_RESPONSE|>",
    ],
)
def test_a_thought_alone_says_nothing(text: str) -> None:
    assert spoken(text) == "" == clean_answer(text)
    assert parse_plan(text).label is None


def test_a_person_may_ask_about_tags() -> None:
    """Only a model's reply has thoughts; what an edit writes into a plan goes the same way."""
    asked = "What is between <think> and </think>?"
    assert parse_plan(f"[SUBQ] {asked}") == ParsedPlan("SUBQ", asked, wants_subquery=True)


PIECES = st.lists(
    st.sampled_from(
        "<think> </think> [THINK] [/THINK] <answer> </answer> <|im_end|> </s> <|channel|>final "
        "<|channel|>analysis <|message|> <|end|> analysis assistantfinal ` .".split()
        + ["\n", " "]
    )
    | st.text(max_size=4),
    max_size=12,
).map("".join)


@given(PIECES)
@example("<answer><think>a</think>b</answer>")
@example("</think> </think><think>")
def test_it_is_part_of_the_reply_and_the_same_when_read_again(text: str) -> None:
    said = spoken(text)
    assert said in text and spoken(said) == said
