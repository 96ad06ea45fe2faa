"""A small world of documents, and a model that knows it, behind OpenAI's wire format."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ras_flow.prompts import answerer, extractor, planner
from tests.graph.world import DOCUMENTS, TRIPLES
from tests.graph.world import QUESTION as QUESTION
from tests.graph.world import SECOND as SECOND
from tests.servers import Answer, OpenAIServer
from tests.servers.scripted import last_message

ROLES = {
    planner.INSTRUCTION: "planner",
    extractor.INSTRUCTION: "extractor",
    **dict.fromkeys(answerer.INSTRUCTIONS.values(), "answerer"),
}


def write_documents(folder: Path) -> Path:
    """Write the world's documents as text files, titled by their names."""
    folder.mkdir()
    for document in DOCUMENTS:
        (folder / f"{document['title']}.txt").write_text(document["text"])
    return folder


class Model:
    """A server whose model answers the world's question; use it as a context manager.

    Attributes:
        answers: Replaces what is written for a request: from its role and text to an answer, or
            None for the usual one.
        hang: A request for which this is true gets no answer until `release` is called.
        asked: Role and body of each request.
        answered: Bodies of the requests that were answered, as JSON.
    """

    def __init__(self) -> None:
        self.answers: Callable[[str, str], Answer | None] = lambda role, text: None
        self.hang: Callable[[str, str], bool] = lambda role, text: False
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answered: list[str] = []
        self.hanging = threading.Event()
        self._go_on = threading.Event()
        self.server = OpenAIServer(self._answer)

    def __enter__(self) -> Model:
        self.server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._go_on.set()
        self.server.__exit__()

    @property
    def options(self) -> list[str]:
        """The options that make `ras-flow ask` use this model and no other part of weight."""
        return [
            *("--model", "openai:test", "--base-url", self.server.url),
            *("--retriever", "bm25", "--loop", "paper"),
        ]

    def count(self, role: str) -> int:
        return sum(asked == role for asked, _ in self.asked)

    def release(self) -> None:
        self.hang = lambda role, text: False
        self._go_on.set()

    def _answer(self, body: dict[str, Any]) -> Answer:
        role, text = ROLES.get(body["messages"][0]["content"], "reader"), last_message(body)
        self.asked.append((role, body))
        if self.hang(role, text):
            self.hanging.set()
            self._go_on.wait()
            return Answer(status=503)
        answer = self.answers(role, text) or Answer(usual(role, text))
        if answer.status == 200:
            self.answered.append(json.dumps(body, sort_keys=True))
        return answer


def usual(role: str, text: str) -> str:
    """Return what the model writes in this world."""
    match role:
        case "planner":
            return ["[SUBQ] x", SECOND, "[SUFFICIENT]"][min(text.count("[SUBQ]"), 2)]
        case "extractor":
            return TRIPLES[text.partition("\n")[0].removeprefix("Title: ")]
    return "Narvik" if "place of birth| O> Narvik" in text else "elsewhere"
