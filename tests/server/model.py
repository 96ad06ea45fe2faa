"""A model that plans, extracts and answers in the world of tests/graph, by the prompts' text."""

from __future__ import annotations

import re
from threading import Barrier
from typing import Any

from ras_flow.prompts import extractor, planner
from ras_flow.t2rag.prompts import decompose, resolve
from tests.graph.world import SECOND, TRIPLES
from tests.servers.scripted import Answer, last_message

TOGETHER = "(one of two)"
"""In a question: its run plans only when another such run does so at the same time."""

_two = Barrier(2, timeout=60)


def reply(body: dict[str, Any]) -> Answer:
    """Answer a request of any role; roles are told apart by their instruction."""
    instruction = body["messages"][0]["content"]
    text = last_message(body)
    if instruction == planner.INSTRUCTION:
        if TOGETHER in text:
            _two.wait()
        return Answer(_plan(text))
    if instruction == decompose.INSTRUCTION:
        return Answer("Aurora Bridge | designer | ?who\n?who | place of birth | ?town")
    if instruction.startswith(resolve.INSTRUCTION):
        slot = re.search(r"^(c\d+): (.+?) \| .+? \| (\?\w+)$", text, re.MULTILINE)
        known = {"Aurora Bridge": "Mira Lund", "Mira Lund": "Narvik"}
        return Answer(f"{slot[1]} {slot[3]} = {known[slot[2]]}" if slot else "none")
    if instruction == extractor.INSTRUCTION:
        title = text.removeprefix("Title: ").partition("\n")[0]
        return Answer(TRIPLES[title])
    birthplace = re.search(r"place of birth\| O> ([^)]+)\)", text)
    return Answer(birthplace.group(1) if birthplace else "elsewhere")


def _plan(text: str) -> str:
    *facts, question = text.splitlines()
    if not facts:
        return f"[SUBQ] {question.removeprefix('Question: ')}"
    found = "\n".join(facts)
    if "place of birth" in found or "born" not in question:
        return "[SUFFICIENT]"
    return SECOND
