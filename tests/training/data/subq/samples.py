"""Questions, and models that answer by rule, for the tests of HotpotQA-SUBQ."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ras_flow.llms import load_language_model
from ras_flow.training.data.subq.builder import Models
from tests.servers import Answer
from tests.servers.scripted import last_message
from tests.training.data.examples import write_list

KNOWN = {
    "_id": "known",
    "question": "How many days are there in a week?",
    "answer": "7",
    "supporting_facts": [["Week", 0]],
    "context": [["Week", ["A week has 7 days."]]],
}


def town(number: int) -> dict[str, Any]:
    """A two-hop question of its own, with ten documents."""
    person, place, river = f"Person{number} Novak", f"Town{number}", f"River{number}"
    others = [[f"Other{number}x{n}", [f"Other{number}x{n} is thing {n}."]] for n in range(8)]
    return {
        "_id": f"town{number}",
        "type": "bridge",
        "question": f"Which river flows through the town where {person} was born?",
        "answer": river,
        "supporting_facts": [[place, 0], [person, 0]],
        "context": [
            [place, [f"{place} lies on {river}."]],
            [person, [f"{person} was born in {place}."]],
            *others,
        ],
    }


def write_questions(path: Path, count: int) -> Path:
    return write_list(path, KNOWN, *map(town, range(count)))


def reply(body: dict[str, Any]) -> Answer:
    """What a good model answers in each step."""
    system = str(body["messages"][0]["content"])
    asked = last_message(body)
    if system.startswith("You are given a question and numbered"):
        return Answer("2, 1")
    if system.startswith("You are given a question that takes several"):
        title = re.search(r"\nText: ([^:]+):", asked)
        assert title
        ask = "Where was {} born?" if "Novak" in title[1] else "Which river flows through {}?"
        return Answer(ask.replace("{}", title[1]))
    if system.startswith("Turn the text"):
        found = re.search(r"Text: (.+?) (was born in|lies on|is|has) (.+)\.", asked)
        assert found
        return Answer(f"(S> {found[1]}| P> {found[2]}| O> {found[3]})")
    return Answer("7" if "days" in asked else "I do not know")


def models(url: str, *, concurrency: int = 4) -> Models:
    model = load_language_model("openai:test", base_url=url, max_concurrency=concurrency)
    return Models(model, model, model, model)
