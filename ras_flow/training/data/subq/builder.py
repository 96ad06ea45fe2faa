"""One question of HotpotQA to records: attempt, filter, subqueries, triples, labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ras_flow.datasets.contexts import documents, support
from ras_flow.datasets.reading import Row
from ras_flow.errors import ModelResponseError
from ras_flow.formats.answer import clean_answer
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.quality import refine
from ras_flow.formats.reply import spoken
from ras_flow.parts.prompted import PromptedAnswerer, PromptedExtractor
from ras_flow.parts.prompted.forms import form_for
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import AnswerRequest, Message
from ras_flow.state.schema import make_passage
from ras_flow.support.validation import NonNegative, Positive
from ras_flow.training.data.calls import CallLog, LoggedModel
from ras_flow.training.data.records import Record
from ras_flow.training.data.subq.hops import Asked, Document, hop_records, known_records
from ras_flow.training.data.subq.prompts import (
    again,
    filter_prompt,
    read_numbers,
    read_subquery,
    subquery_prompt,
)
from ras_flow.training.splits import Splitter

ATTEMPTS = 3
"""How often a model is asked for one reply that can be used."""

KNOWN_TOKENS = 50
"""Tokens of an answer that is attempted without retrieval."""


@dataclass(frozen=True)
class Models:
    """The model of each step.

    Attributes:
        base: Attempts questions without retrieval; None to leave that out.
        filter: Keeps the documents that are needed.
    """

    base: LanguageModel | None
    filter: LanguageModel
    subqueries: LanguageModel
    extractor: LanguageModel


class BuildConfig(Splitter):
    """Settings of a build, which also sends its questions into splits.

    Attributes:
        distractors: Other documents of the question in each hop; 0 as in the appendix.
        concurrency: Questions under way at once.
        limit: Questions to build from, the first of the file; None for all.
    """

    seed: NonNegative[int] = 13
    distractors: NonNegative[int] = 4
    concurrency: Positive[int] = 8
    limit: Positive[int] | None = None


async def knows(question: str, answer: str, base: PromptedAnswerer) -> bool:
    """Tell whether a base model answers without a graph (eq. 7; lines 3 to 7)."""
    if answer.lower() in ("yes", "no"):  # Half of them are right by chance.
        return False
    [reply] = await base.answer([AnswerRequest(question, max_new_tokens=KNOWN_TOKENS)])
    said = clean_answer(reply.text).split("\n")[0]
    return normalize_name(said) == normalize_name(answer) != ""


class Builder:
    """Turns questions of HotpotQA into records.

    Attributes:
        rejected: The last error by which a model rejected a request; None without any.
    """

    def __init__(
        self, log: CallLog, models: Models, config: BuildConfig, dropped: dict[str, int]
    ) -> None:
        self.config, self.dropped = config, dropped
        self.filter = LoggedModel(models.filter, log, "filter")
        self.writer = LoggedModel(models.subqueries, log, "subqueries")
        self.extractor = PromptedExtractor(
            LoggedModel(models.extractor, log, "extract"), form_for(models.extractor)
        )
        base = models.base
        self.base = PromptedAnswerer(LoggedModel(base, log, "attempt")) if base else None
        self.rejected: ModelResponseError | None = None
        self.named: Counter[str] = Counter()

    async def records(self, row: Row) -> list[Record]:
        """Return a question's records; none for one that cannot be used."""
        question, answer = row.text("question"), row.text("answer")
        id = row.first_text("id", "_id")
        name = f"{id}~{self.named[id]}" if self.named[id] else id
        self.named[id] += 1
        asked = Asked(name, question, answer, self.config(question))
        try:
            known = self.base is not None and await knows(question, answer, self.base)
        except ModelResponseError as error:
            self.rejected = error
            return self._drop("attempt: the request was rejected")
        if known:
            return known_records(asked)
        texts = {title: " ".join(" ".join(said).split()) for title, said in documents(row)}
        gold = [(title, texts[title]) for title in support(row) if texts.get(title)]
        if len(gold) < len(support(row)):
            return self._drop("a supporting document is not there")
        needed = await self._needed(question, gold)
        if needed is None:
            return []
        subqueries = await self._subqueries(question, needed)
        if subqueries is None:
            return []
        others = [item for item in texts.items() if item not in gold]
        others = others[: self.config.distractors * len(needed)]
        read = await self._documents(needed, others)
        found, around = read[: len(needed)], read[len(needed) :]
        if not all(document.triples for document in found):
            return self._drop("a document without triples")
        distractors, seed = self.config.distractors, self.config.seed
        return list(
            hop_records(asked, found, subqueries, around, distractors=distractors, seed=seed)
        )

    def _drop(self, reason: str) -> list[Record]:
        self.dropped[reason] = self.dropped.get(reason, 0) + 1
        return []

    async def _needed(
        self, question: str, gold: list[tuple[str, str]]
    ) -> list[tuple[str, str]] | None:
        """Step 1 (appendix C.1): the documents that are needed, in the order to be found."""
        read = partial(read_numbers, count=len(gold))
        numbers = await self._asked(self.filter, filter_prompt(question, gold), 30, read)
        if numbers is None:
            self._drop("filter: no usable reply")
            return None
        if not numbers:
            self._drop("filter: no document is needed")
            return None
        return [gold[number - 1] for number in numbers]

    async def _subqueries(self, question: str, needed: list[tuple[str, str]]) -> list[str] | None:
        """Step 2 (appendix C.2): one subquery for each document, none asked twice."""
        made: list[str] = []
        for document in needed:
            # The question itself is the first search already.
            read = partial(read_subquery, earlier=[*made, *([question] if made else [])])
            prompt = subquery_prompt(question, document, made)
            subquery = await self._asked(self.writer, prompt, 80, read)
            if subquery is None:
                self._drop("subqueries: no usable reply")
                return None
            made.append(subquery)
        return made

    async def _documents(
        self, needed: list[tuple[str, str]], others: list[tuple[str, str]]
    ) -> list[Document]:
        """Line 12: g_i <- f_t2t(d_i), for the needed documents and the distractors."""
        texts = needed + others
        passages = [make_passage(title, text) for title, text in texts]
        made = await self.extractor.extract(passages)
        for extraction in made[: len(needed)]:
            if extraction.error is not None:
                self.rejected = ModelResponseError(extraction.error)
        return [
            Document(title, tuple(refine(extraction.triples, title, text).triples))
            for (title, text), extraction in zip(texts, made, strict=True)
        ]

    async def _asked(
        self,
        model: LoggedModel,
        prompt: list[Message],
        max_new_tokens: int,
        read: Callable[[str], tuple[Any, str | None]],
    ) -> Any:
        """Ask until a reply can be used; None if none can, or the request is rejected."""
        for _ in range(ATTEMPTS):
            try:
                [made] = await model.generate([prompt], max_new_tokens=max_new_tokens)
            except ModelResponseError as error:
                self.rejected = error
                return None
            value, problem = read(spoken(made.text))
            if problem is None:
                return value
            prompt = again(prompt, made.text, problem)
        return None
