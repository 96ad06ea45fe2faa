"""Test doubles for users' own tests: scripted parts that need no model, index or network.

They are never used by the package itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from ras_flow.formats.triples import parse_triples
from ras_flow.parts.records import (
    AnswerRequest,
    Extraction,
    Generation,
    Message,
    PlanRequest,
    Reply,
    ScoredPassage,
)
from ras_flow.state.schema import Document, Passage, make_passage


class ScriptedModel:
    """A language model that replies by a function of the last message, or always the same.

    For any model role, and as the model of a system of your own. A word counts as a token.

    Args:
        reply: The reply, or what makes it.
        window: Tokens of a prompt that fit.

    Attributes:
        prompts: What it was asked, in order.
        limits: The limit of new tokens of each call.
    """

    identity = "testing:model"
    batch_size = 4

    def __init__(self, reply: str | Callable[[str], str] = "", *, window: int = 2500) -> None:
        self.window = window
        self.prompts: list[Sequence[Message]] = []
        self.limits: list[int] = []
        self._reply = reply

    def count_tokens(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())

    async def generate(
        self,
        prompts: Sequence[Sequence[Message]],
        *,
        max_new_tokens: int,
        stop: Sequence[str] = (),
    ) -> list[Generation]:
        """Reply to each prompt, up to the first stop string; the limit cuts nothing off."""
        self.prompts += prompts
        self.limits.append(max_new_tokens)
        made = []
        for prompt in prompts:
            reply = self._reply
            text = reply if isinstance(reply, str) else reply(prompt[-1]["content"])
            for string in stop:
                text = text.partition(string)[0]
            read = sum(self.count_tokens(message["content"]) for message in prompt)
            made.append(Generation(text, read, self.count_tokens(text)))
        return made


class ScriptedPlanner:
    """Gives the listed plans one after another, then [SUFFICIENT].

    Args:
        plans: The planner's raw texts.
        takes_soft_tokens: Whether to ask for the encoded graph.

    Attributes:
        requests: What it was asked, in order.
    """

    identity = "testing:planner"

    def __init__(self, plans: Sequence[str], *, takes_soft_tokens: bool = False) -> None:
        self.takes_soft_tokens = takes_soft_tokens
        self.requests: list[PlanRequest] = []
        self._plans = list(plans)

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Return the next plan for each request, at one token a word."""
        replies = []
        for request in requests:
            self.requests.append(request)
            text = self._plans.pop(0) if self._plans else "[SUFFICIENT]"
            replies.append(Reply(text, len(request.question.split()), len(text.split())))
        return replies


class ScriptedAnswerer:
    """Answers by a function of the request, or always the same.

    Args:
        answer: The answer, or what makes it.
        takes_soft_tokens: Whether to ask for the encoded graph.

    Attributes:
        requests: What it was asked, in order.
    """

    identity = "testing:answerer"

    def __init__(
        self, answer: str | Callable[[AnswerRequest], str], *, takes_soft_tokens: bool = False
    ) -> None:
        self.takes_soft_tokens = takes_soft_tokens
        self.requests: list[AnswerRequest] = []
        self._answer = answer

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Answer each request, at one token a word."""
        self.requests.extend(requests)
        texts = [
            self._answer if isinstance(self._answer, str) else self._answer(request)
            for request in requests
        ]
        return [
            Reply(text, len(request.question.split()), len(text.split()))
            for request, text in zip(requests, texts, strict=True)
        ]


class MappingExtractor:
    """Looks a passage's triples up by its title.

    Args:
        triples: Model-like output by title: ``"(S> a| P> b| O> c), …"``.
        batch_size: Passages a call.

    Attributes:
        calls: The titles of each call.
    """

    identity = "testing:extractor"

    def __init__(self, triples: Mapping[str, str], *, batch_size: int = 16) -> None:
        self.batch_size = batch_size
        self.calls: list[list[str]] = []
        self._triples = triples

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Parse the output given for each passage's title; none for unknown titles."""
        self.calls.append([passage["title"] for passage in passages])
        parsed = [parse_triples(self._triples.get(passage["title"], "")) for passage in passages]
        return [Extraction(found.triples, found.dropped) for found in parsed]


class ListRetriever:
    """Ranks a few documents by the words that they share with the query.

    Args:
        documents: The corpus.

    Attributes:
        queries: What was searched for, in order.
    """

    identity = "testing:retriever"

    def __init__(self, documents: Sequence[Document]) -> None:
        self.queries: list[str] = []
        self._passages = [
            make_passage(document.get("title", ""), document["text"]) for document in documents
        ]

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return the k passages that share most words with each query, ties in corpus order."""
        self.queries.extend(queries)
        return [
            sorted(
                (
                    ScoredPassage(passage, float(_overlap(query, passage)))
                    for passage in self._passages
                ),
                key=lambda scored: -scored.score,
            )[:k]
            for query in queries
        ]


class HashEncoder:
    """Embeds each text as a unit vector drawn from its hash.

    Args:
        dimension: Length of the vectors.
    """

    identity = "testing:encoder"

    def __init__(self, dimension: int = 8) -> None:
        self.dimension = dimension

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return vectors of shape (number of texts, dimension), the same for the same text."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            seed = int.from_bytes(sha256(text.encode()).digest()[:8])
            vector = np.random.default_rng(seed).standard_normal(self.dimension)
            vectors[row] = vector / np.linalg.norm(vector)
        return vectors


def _overlap(query: str, passage: Passage) -> int:
    return len(_words(query) & _words(f"{passage['title']} {passage['text']}"))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
