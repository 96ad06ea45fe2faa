"""The demo corpus keeps its promises: shape, and gold chains."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import islice

import pytest

from ras_flow.demo import DemoQuestion, default_question, passages, questions
from ras_flow.demo.index import documents
from ras_flow.documents.split import split_document

MINIMUM = {
    "direct": 8,
    "two-hop": 16,
    "three-hop": 8,
    "comparison": 6,
    "yes-no": 6,
    "structured": 20,
    "unanswerable": 30,
}
EXTRACTIVE = {"direct", "two-hop", "three-hop"}
CORPUS = {entry["title"]: entry["text"] for entry in passages()}
STRUCTURED: dict[str, str] = {}
for document in islice(documents(), len(CORPUS), None):
    for passage in split_document(document):
        under = STRUCTURED.get(passage["title"], "")
        STRUCTURED[passage["title"]] = f"{under}\n{passage['text']}"
QUESTIONS = questions()


def contains(text: str, phrase: str) -> bool:
    """Whether the phrase occurs as whole words: "Inn" does not occur in "Innsbruck"."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) is not None


def of_types(*types: str) -> list[DemoQuestion]:
    return [entry for entry in QUESTIONS if entry["type"] in types]


def name(title: str) -> str:
    """The entity that a title names, without a disambiguation in brackets."""
    return title.split(" (")[0]


def by_id(entry: DemoQuestion) -> str:
    return entry["id"]


def test_corpus_size_and_unique_titles() -> None:
    assert len(passages()) >= 160
    assert len(CORPUS) == len(passages())
    assert len(set(CORPUS.values())) == len(CORPUS)


def test_passages_are_short_and_about_their_titles() -> None:
    for title, text in CORPUS.items():
        assert 40 <= len(text.split()) <= 100, title
        opening = " ".join(text.split()[:8])
        assert contains(opening, name(title).split()[-1]), title
        assert text.endswith("."), title


def test_no_broken_encoding() -> None:
    texts = [*CORPUS, *CORPUS.values()]
    for entry in QUESTIONS:
        texts += [entry["question"], *entry["answers"], *entry["support"], *entry["subqueries"]]
    for text in texts:
        assert unicodedata.is_normalized("NFC", text), text
        assert text == " ".join(text.split()), text
        # A UTF-8 letter read as Latin-1 leaves a symbol, a control or an ordinal sign behind.
        for character in set(text) - set("0123456789 .,;:'?-()°›"):
            assert character not in "ªº", text
            assert unicodedata.name(character, "").startswith("LATIN"), (character, text)


def test_counts_per_type_and_unique_ids() -> None:
    counts: Counter[str] = Counter(entry["type"] for entry in QUESTIONS)
    assert set(counts) == set(MINIMUM)
    for kind, least in MINIMUM.items():
        assert counts[kind] >= least, kind
    assert len(QUESTIONS) >= 48
    assert len({entry["id"] for entry in QUESTIONS}) == len(QUESTIONS)
    assert len({entry["question"] for entry in QUESTIONS}) == len(QUESTIONS)


def test_default_question_is_the_first_and_needs_two_hops() -> None:
    first = QUESTIONS[0]
    assert (first["id"], first["type"]) == ("default", "two-hop")
    assert default_question() == first["question"]


@pytest.mark.parametrize("entry", QUESTIONS, ids=by_id)
def test_shape(entry: DemoQuestion) -> None:
    assert set(entry) == set(DemoQuestion.__annotations__)
    assert entry["question"].endswith("?")
    assert entry["subqueries"]
    assert set(entry["support"]) <= set(CORPUS) | set(STRUCTURED)
    assert len(set(entry["support"])) == len(entry["support"])
    if entry["type"] == "unanswerable":
        assert entry["answers"] == [] and entry["support"] == []
    else:
        assert entry["answers"]
        assert len(entry["subqueries"]) == len(entry["support"])


@pytest.mark.parametrize(
    ("kind", "hops"), [("direct", 1), ("two-hop", 2), ("three-hop", 3)], ids=str
)
def test_number_of_hops(kind: str, hops: int) -> None:
    for entry in of_types(kind):
        assert len(entry["support"]) == hops, entry["id"]


@pytest.mark.parametrize("entry", of_types(*EXTRACTIVE), ids=by_id)
def test_gold_answer_is_in_the_last_support_passage_only(entry: DemoQuestion) -> None:
    gold = entry["answers"][0]
    *before, last = entry["support"]
    assert contains(CORPUS[last], gold)
    for title in before:
        assert not contains(CORPUS[title], gold), title
    assert not contains(entry["question"], gold)


@pytest.mark.parametrize("entry", of_types("two-hop", "three-hop"), ids=by_id)
def test_bridges_link_the_passages_and_are_not_in_the_question(entry: DemoQuestion) -> None:
    support = entry["support"]
    for previous, bridge in zip(support, support[1:], strict=False):
        assert contains(CORPUS[previous], bridge), (previous, bridge)
        assert not contains(entry["question"], bridge), bridge
    for subquery, title in zip(entry["subqueries"][1:], support[1:], strict=True):
        assert contains(subquery, title), subquery


@pytest.mark.parametrize("entry", of_types("comparison"), ids=by_id)
def test_comparison_answer_names_one_of_the_entities(entry: DemoQuestion) -> None:
    assert any(entry["answers"][0].lower() == name(title).lower() for title in entry["support"])


@pytest.mark.parametrize("entry", of_types("structured"), ids=by_id)
def test_structured_answers_are_under_their_headings(entry: DemoQuestion) -> None:
    [title] = entry["support"]
    text = STRUCTURED[title]
    assert any(answer.casefold() in text.casefold() for answer in entry["answers"])


def test_yes_no_answers_are_of_both_kinds() -> None:
    assert {tuple(entry["answers"]) for entry in of_types("yes-no")} == {("yes",), ("no",)}


def test_importing_the_module_reads_no_data() -> None:
    code = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "import ras_flow.demo\n"
        "assert not [path for path in opened if path.endswith('.jsonl')], opened\n"
        "ras_flow.demo.default_question()\n"
        "assert [path for path in opened if path.endswith('questions.jsonl')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
