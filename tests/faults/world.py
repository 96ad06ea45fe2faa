"""Two-hop questions by number, and a model server that answers from what it is shown.

Question n asks for the home of the maker of a bridge; one document names the maker, another the
home. The model reads its prompts: where a fact was lost on the way, it does not know the answer.
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ras_flow import Context, build_graph
from ras_flow.errors import RunError
from ras_flow.runs.runs import Builder, Runs
from ras_flow.testing import ListRetriever
from tests.servers import Answer
from tests.servers.scripted import last_message

QUESTIONS = 300


def question(number: int) -> str:
    return f"Find the home of the maker of Bridge{number}."


def town(number: int) -> str:
    return f"Town{number}"


def settings(base_url: str, *, timeout: float = 60.0) -> Context:
    """Return settings where the server plays every role."""
    return Context(
        planner="openai:planner",
        extractor="openai:extractor",
        answerer="openai:answerer",
        base_url=base_url,
        top_k=2,
        model_timeout=timeout,
        max_retries=1,
    )


def builder() -> Builder:
    """Return the graph over the documents."""
    documents = [
        {"title": text.split()[0], "text": text}
        for n in range(QUESTIONS)
        for text in (f"Bridge{n} maker Person{n}", f"Person{n} home Town{n}")
    ]
    return build_graph(retriever=ListRetriever(documents))  # type: ignore[arg-type]


def model(body: dict[str, Any]) -> Answer:
    """Answer one request as the role that it names would."""
    asked = last_message(body)
    if body["model"] == "extractor":
        facts = re.findall(r"^(\d+) \[.*\] (\w+) (maker|home) (\w+)", asked, re.MULTILINE)
        return Answer("\n".join(f"{s} | {p} | {o} [{number}]" for number, s, p, o in facts))
    n = re.findall(r"Bridge(\d+)", asked)[-1]
    home = f"Person{n} | home | Town{n}\n" in asked
    if body["model"] == "answerer":
        return Answer(f"Town{n}" if home else "elsewhere")
    if home:
        return Answer("[SUFFICIENT]")
    if f"Bridge{n} | maker | Person{n}\n" in asked:
        return Answer(f"[SUBQ] Which home has Person{n}?")
    return Answer(f"[SUBQ] Who is the maker of Bridge{n}?")


class Storm:
    """The model with a share of its answers spoilt, until the storm is over."""

    def __init__(self, spoil: Callable[[Answer], Answer], share: float, seed: int) -> None:
        self.over = False
        self.spoilt = 0
        self._spoil = spoil
        self._share = share
        self._random = random.Random(seed)
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Answer:
        with self._lock:
            hit = not self.over and self._random.random() < self._share
            self.spoilt += hit
        return self._spoil(model(body)) if hit else model(body)


FAULTS: dict[str, Callable[[Answer], Answer]] = {
    "slow": lambda answer: replace(answer, delay=1.5),
    "failing": lambda answer: replace(answer, status=503),
    "closing half-way": lambda answer: replace(answer, broken="cut"),
    "garbage": lambda answer: replace(answer, broken="garbage"),
    "web page": lambda answer: replace(answer, broken="html"),
}


async def start_or_resume(runs: Runs, number: int, base_url: str) -> None:
    """Bring a run to its end from wherever it is."""
    run_id = f"run{number}"
    try:
        if not (await runs.get(run_id)).next:
            return
        events = runs.resume(run_id)
    except RunError as error:
        if "no run" not in str(error):
            raise
        events = runs.start({"question": question(number)}, settings(base_url), run_id=run_id)
    async for _ in events:
        pass
