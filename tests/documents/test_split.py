from __future__ import annotations

import time
from hashlib import sha256
from itertools import pairwise
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ras_flow import demo
from ras_flow.documents import SourceDocument
from ras_flow.documents.blocks import Block
from ras_flow.documents.split import split_document, split_text

TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8"), st.sampled_from(list(" \n\t.!?。।\"'”)]ab文字éA1…\u2028\x85"))
    ),
    max_size=400,
)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(TEXTS, st.integers(1, 40))
@example("∯ ȸ ☄ &ᓰ& ♬. Next one.", 100)
@example("\t\u200b\x85)。(\u3000A)?𝒳’\rA\x85.", 100)
def test_every_character_is_kept_and_no_passage_is_empty(text: str, max_words: int) -> None:
    passages = split_text(text, max_words)
    assert squeezed("".join(passages)) == squeezed(text)
    assert all(passage.strip() == passage != "" for passage in passages)


WORDS = st.lists(
    st.sampled_from(["word", "Word", "end.", "Dr.", "A", "?"]), min_size=40, max_size=300
).map(" ".join)


@given(WORDS)
def test_passages_are_neither_too_long_nor_too_short(text: str) -> None:
    passages = split_text(text, 20)
    assert all(len(passage.split()) <= 25 for passage in passages), "with a short rest"
    for one, next in pairwise(passages):
        assert len(one.split()) + len(next.split()) > 20


@given(TEXTS | WORDS, st.integers(1, 20))
def test_splitting_a_passage_again_changes_nothing(text: str, max_words: int) -> None:
    # The last one may be too long, by the short rest that joined it.
    for passage in split_text(text, max_words)[:-1]:
        assert split_text(passage, max_words) == [passage]


def test_passages_end_at_sentence_ends() -> None:
    text = " ".join(f"Sentence number {n} has exactly eight words here." for n in range(40))
    passages = split_text(text, 100)
    assert [len(passage.split()) for passage in passages] == [96, 96, 96, 32]
    assert all(passage.endswith("here.") for passage in passages)
    short = ("Nine short words make up this one single sentence. " * 2) + "The end."
    assert len(split_text(short, 18)) == 1, "a short rest joins the passage before it"


@pytest.mark.parametrize(
    "text, max_words, passages",
    [
        (
            "これは最初の文です。次の文はもっと短い。",
            5,
            ["これは最初の文です。", "次の文はもっと短い。"],
        ),
        ("यह पहला वाक्य है। यह दूसरा है।", 5, ["यह पहला वाक्य है।", "यह दूसरा है।"]),
        ("هل هذا سؤال؟ هذا هو جواب.", 5, ["هل هذا سؤال؟", "هذا هو جواب."]),
        ("Это первое предложение. А вот второе.", 5, ["Это первое предложение.", "А вот второе."]),
        ("Dr. A met Mr. J. R. Jones. It rained.", 7, ["Dr. A met Mr. J. R. Jones.", "It rained."]),
        ("A.B. Lee" + " word" * 12, 8, ["A.B. Lee" + " word" * 6, "word word word word word word"]),
        ("A title\n\nOne line\nand its rest", 5, ["A title", "One line\nand its rest"]),
        ('She sang "Boys!".[1] (It won.)Then she left.', 100, None),
        ("東京。大阪へ。", 100, None),
        ("word " * 500, 100, [" ".join(["word"] * 100)] * 5),
        ("x" * 1000, 100, ["x" * 200] * 5),
        ("x" * 230, 100, None),
        ("短い文であります。" * 12, 50, None),
        ("\n".join(["宮殿は北" * 13] * 2), 100, ["宮殿は北" * 26]),
    ],
)
def test_where_texts_are_cut(text: str, max_words: int, passages: list[str] | None) -> None:
    assert split_text(text, max_words) == (passages or [text])


def test_japanese_passages_are_about_as_long_as_english_ones() -> None:
    passages = split_text("これは二十文字くらいの短い文であります。" * 100, 100)
    assert all(len(squeezed(passage)) <= 250 for passage in passages)
    assert len(passages) <= ceil(2000 / 180)


@pytest.mark.parametrize("text", ["!", "(x).", "word ("])
def test_a_long_text_with_odd_ends_of_sentences_takes_no_time(text: str) -> None:
    start = time.process_time()
    whole = f"Before it. {text * 200_000} After it. The end."
    passages = split_text(whole)
    assert time.process_time() - start < 10, "quadratic time would take minutes"
    assert squeezed("".join(passages)) == squeezed(whole)


@pytest.mark.parametrize(
    ("max_words", "count", "digest"),
    [(100, 224, "7f0b1bd71c13ce57"), (20, 769, "3ae313ef0d5ede8b")],
)
def test_prose_of_one_paragraph_keeps_its_passages(max_words: int, count: int, digest: str) -> None:
    # Their ids are those of the triples and vectors that people keep.
    documents = [SourceDocument("", one["title"], one["text"]) for one in demo.passages()]
    ids = [one["id"] for document in documents for one in split_document(document, max_words)]
    assert (len(ids), sha256("".join(ids).encode()).hexdigest()[:16]) == (count, digest)
    hashed = "\0".join([documents[0].title, documents[0].text])
    assert documents[0].content_hash == sha256(hashed.encode()).hexdigest()


def heading(text: str, level: int) -> Block:
    return Block("heading", text, level)


WEIGHT = Block(
    "paragraph", "It weighs twelve kilograms, and two people can carry it up the stairs."
)


@pytest.mark.parametrize(
    ("blocks", "passages"),
    [
        (
            [heading("Handbook", 1), heading("Pumps", 2), heading("PX-5", 3), WEIGHT]
            + [heading("pumps", 3), WEIGHT, heading("Crane", 1), WEIGHT],
            {
                "Handbook › Pumps › PX-5": WEIGHT.text,
                "Handbook › Pumps": WEIGHT.text,
                "Handbook › Crane": WEIGHT.text,
            },
        ),
        (
            [heading("Offices", 1), Block("paragraph", "Open at nine."), heading("Phone", 2)]
            + [
                Block("paragraph", "47 18"),
                heading("Who is there?", 2),
                Block("paragraph", "Ida."),
            ],
            {"Handbook › Offices": "Open at nine.\n\nPhone: 47 18\nWho is there? Ida."},
        ),
        (
            [heading("Pumps", 1), WEIGHT, heading("We moved to Porto", 1)],
            {"Handbook › Pumps": WEIGHT.text, "Handbook": "We moved to Porto"},
        ),
        ([heading("Handbook", 1)], {"Handbook": "Handbook"}),
        (
            [heading("a" * 200, 1), heading("b" * 90, 2), heading("PX-9", 3), WEIGHT],
            {f"Handbook › {'b' * 90} › PX-9": WEIGHT.text},
        ),
        (
            [Block("paragraph", "The parts:"), Block("code", "a\n  b"), Block("paragraph", "End.")],
            {"Handbook": "The parts:\n```\na\n  b\n```\n\nEnd."},
        ),
    ],
)
def test_a_passage_is_of_one_section(blocks: list[Block], passages: dict[str, str]) -> None:
    found = split_document(SourceDocument("h.md", "Handbook", blocks=tuple(blocks)))
    assert {passage["title"]: passage["text"] for passage in found} == passages


KINDS = st.sampled_from(["paragraph", "item", "row", "code"])
SOME = st.lists(
    st.builds(Block, st.just("heading"), st.sampled_from("ABC"), st.integers(1, 3))
    | st.builds(
        Block,
        KINDS,
        st.integers(1, 30).map(lambda n: " ".join(f"w{at}" for at in range(n)) + "."),
        lead=st.sampled_from([(), ("Lead:",)]),
    ),
    max_size=12,
)


@given(SOME)
def test_no_text_is_lost_and_what_fits_is_not_cut(blocks: list[Block]) -> None:
    found = split_document(SourceDocument("d", "D", "", blocks=(*blocks, WEIGHT)), 30)
    texts = [passage["text"] for passage in found]
    for block in blocks:
        if block.kind != "heading":
            assert any(" ".join(block.text.split()) in " ".join(text.split()) for text in texts)
    assert all(passage["title"].startswith("D") for passage in found)


def test_lines_that_were_broken_for_their_width_are_joined_and_others_kept() -> None:
    wrapped = "The mill at Halden was built in 1880 by Ida Storm, who\nsold it in 1901."
    address = "Norrland Pump AB\nBox 12\n98121 Kiruna"
    list_ = "1. Open it\n   slowly\n2. Close it\n  - at night"
    assert split_text(f"{wrapped}\n\n{address}\n \n{list_}") == [
        f"{wrapped.replace(chr(10), ' ')}\n\n{address}\n\n"
        "1. Open it\nslowly\n2. Close it\n  - at night"
    ]


def test_passages_carry_title_and_source_and_repeated_ones_appear_once() -> None:
    passages = split_document(SourceDocument("file.txt", "T", "Same words. \n\n" * 3), 2)
    assert [(p["title"], p["text"], p.get("source")) for p in passages] == [
        ("T", "Same words.", "file.txt")
    ]


def test_a_page_that_is_one_long_heading_is_not_in_each_of_its_passages() -> None:
    page = " ".join(f"Sentence {number} is about something else." for number in range(3_000))
    passages = split_document(SourceDocument("", page, page))
    assert len(passages) > 100
    assert {passage["title"] for passage in passages} == {f"{page[:300].rstrip()}…"}
    again = split_document(SourceDocument("", "t" * 300, page))
    assert {passage["title"] for passage in again} == {"t" * 300}
