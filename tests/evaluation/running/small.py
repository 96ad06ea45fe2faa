"""A small evaluation over the world of the graph tests, with models that are scripted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ras_flow.errors import ModelResponseError
from ras_flow.evaluation.config import EvalConfig, parse_config
from ras_flow.evaluation.rows import ROW, Row
from ras_flow.evaluation.runner import Report, evaluate
from ras_flow.formats.triples import parse_triples
from ras_flow.parts import (
    AnswerRequest,
    Extraction,
    Generation,
    Message,
    PlanRequest,
    Reply,
)
from ras_flow.parts.chosen import Parts
from ras_flow.testing import HashEncoder, ListRetriever
from tests.graph.world import DOCUMENTS, QUESTION, TRIPLES, read_birthplace

QUESTIONS = [
    {
        "id": "born",
        "question": QUESTION,
        "answers": ["Narvik"],
        "type": "two-hop",
        "support": ["Aurora Bridge", "Mira Lund"],
        "subqueries": ["Who designed the Aurora Bridge?", "Where was Mira Lund born?"],
    },
    {
        "id": "country",
        "question": "In which country is Narvik?",
        "answers": ["Norway"],
        "support": ["Narvik"],
    },
    {
        "id": "harbour",
        "question": "Who designed the Harbour Bridge?",
        "answers": ["Leo Fahr"],
        "support": ["Harbour Bridge"],
    },
]


SYSTEMS: dict[str, Any] = {"direct": {}, "single": {}, "ras": {}}


def write_questions(folder: Path, rows: Sequence[dict[str, Any]] = QUESTIONS) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def config(folder: Path, systems: dict[str, Any], **tables: Any) -> EvalConfig:
    """Settings for the questions, with these systems."""
    write_questions(folder)
    return parse_config(
        {
            "benchmarks": {"small": {"format": "jsonl", "path": "questions.jsonl"}},
            "systems": systems,
            "settings": {"top_k": 2},
            **tables,
        },
        folder,
        text="# settings",
    )


class World:
    """Scripted parts that note every call that they finish.

    Args:
        finished: Told of each call; raises what a broken part raises.
    """

    def __init__(self, finished: Callable[[str], None] = lambda call: None) -> None:
        self.calls: list[str] = []
        self._finished = finished

    def note(self, call: str) -> None:
        self._finished(call)
        self.calls.append(call)

    @property
    def parts(self) -> Parts:
        return Parts.of(
            planner=Planner(self),
            retriever=ListRetriever(DOCUMENTS),
            extractor=Extractor(self),
            answerer=Answerer(self),
            encoder=HashEncoder(),
        )

    @property
    def reader(self) -> Reader:
        return Reader(self)


async def ask(
    settings: EvalConfig, folder: Path, world: World, *, parts: Parts | None = None, **more: Any
) -> Report:
    """Run an evaluation into the folder's `out`."""
    parts = parts or world.parts
    return await evaluate(settings, folder / "out", parts=parts, reader=world.reader, **more)


async def run(
    folder: Path,
    world: World,
    systems: dict[str, Any] = SYSTEMS,
    *,
    retry: bool = False,
    **tables: Any,
) -> Report:
    return await ask(config(folder, systems, **tables), folder, world, retry=retry)


def rows_of(folder: Path, system: str) -> list[Row]:
    text = (folder / "out" / "predictions" / "small" / f"{system}.jsonl").read_text()
    return [ROW.validate_json(line) for line in text.splitlines()]


def failing(start: str | tuple[str, ...], error: Exception | None = None) -> World:
    """Return a world whose calls that start so fail."""

    def finished(call: str) -> None:
        if call.startswith(start):
            raise error or ModelResponseError("the server said no")

    return World(finished)


class Planner:
    identity = "small:planner"
    takes_soft_tokens = False

    def __init__(self, world: World) -> None:
        self._world = world

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        replies = []
        for request in requests:
            self._world.note(f"plan {request.question} {len(request.chain)}")
            plans = ["[SUBQ] x", "[SUFFICIENT]"]
            if request.question == QUESTION:
                plans = ["[SUBQ] x", "[SUBQ] Where was Mira Lund born?", "[SUFFICIENT]"]
            replies.append(Reply(plans[min(len(request.chain), len(plans) - 1)], 20, 4))
        return replies


class Extractor:
    identity = "small:extractor"
    batch_size = 1

    def __init__(self, world: World) -> None:
        self._world = world

    async def extract(self, passages: Any) -> list[Extraction]:
        for passage in passages:
            self._world.note(f"extract {passage['title']}")
        return [
            Extraction(parse_triples(TRIPLES[passage["title"]]).triples, [], None, 30, 10)
            for passage in passages
        ]


class Answerer:
    identity = "small:answerer"
    takes_soft_tokens = False

    def __init__(self, world: World) -> None:
        self._world = world

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        [request] = requests
        self._world.note(f"answer {request.question} {len(request.chain)}")
        if request.question == QUESTION:
            return [Reply(read_birthplace(request), 25, 3)]
        found = [t["object"] for link in request.chain for t in link.triples]
        return [Reply("Norway" if "Norway" in found else "unknown", 25, 3)]


class Reader:
    """The baselines' model: knows the third question's answer only."""

    identity = "small:reader"
    window = 4000
    batch_size = 1

    def __init__(self, world: World) -> None:
        self._world = world

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        made = []
        for prompt in prompts:
            asked = prompt[-1]["content"]
            self._world.note(f"read {prompt[0]['content'][:40]} {asked}")
            text = "Leo Fahr" if "designed by Leo Fahr" in asked else "unknown"
            made.append(Generation(text, len(asked.split()), 2))
        return made


def write_settings(folder: Path, base_url: str, more: str = "") -> Path:
    """Write settings of a small evaluation with two systems, and its two questions.

    Args:
        folder: Where to.
        base_url: Address of the model server.
        more: Further lines, after those of `[settings]`.
    """
    rows = [{**row, "documents": DOCUMENTS} for row in (QUESTIONS[0], QUESTIONS[2])]
    write_questions(folder, rows)
    path = folder / "eval.toml"
    path.write_text(
        f"""
[models]
planner = "openai:test"
extractor = "openai:test"
answerer = "openai:test"
base_url = "{base_url}"
[settings]
retriever = "bm25"
top_k = 1
loop = "paper"
{more}
[benchmarks.small]
format = "jsonl"
path = "questions.jsonl"
[systems.ras]
[systems.single]
"""
    )
    return path
