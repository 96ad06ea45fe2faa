"""HotpotQA-SUBQ: training data from HotpotQA with language models (appendix C, algorithm 1).

For each question: a base model tries to answer it alone; if it can, that is its only record
([NO_RETRIEVAL], with the ``continue`` that one published version of the algorithm lacks). Else a
model keeps the supporting documents that are needed, another writes one subquery for each, f_t2t
makes triples, and :func:`~ras_flow.training.data.rollout.roll_out` labels the hops.

Where this differs from the appendix, it is to show training what inference sees:

* the first subquery is the question itself (q_0 = Q), and there is a first plan, [SUBQ] Q;
* triples go through the rules for what enters the graph (:mod:`ras_flow.formats.quality`);
* each hop has ``distractors`` other documents of the question beside the needed one;
* documents are read in the order in which the filter says they have to be found;
* splits are by question, and one input has one label;
* with ``failures`` on, hops fail too, as in the data that is converted without models.

Every model call is in ``calls.jsonl``: a build that was killed goes on where it was, and asks
nothing twice.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ras_flow.cluster.engine import in_order
from ras_flow.components import LanguageModel, Message
from ras_flow.datasets.contexts import documents, support
from ras_flow.datasets.reading import Row, read_rows
from ras_flow.errors import ConfigurationError, ModelResponseError
from ras_flow.formats.normalize import normalize_question
from ras_flow.formats.plan import parse_plan
from ras_flow.formats.quality import refine
from ras_flow.roles import PromptedAnswerer, PromptedExtractor
from ras_flow.roles.extractors import form_for
from ras_flow.state.schema import make_passage
from ras_flow.training.data.attempts import knows
from ras_flow.training.data.calls import CallLog, LoggedModel
from ras_flow.training.data.case import Case, Page, Step
from ras_flow.training.data.pool import Pool
from ras_flow.training.data.prompts import again, filter_prompt, subquery_prompt
from ras_flow.training.data.records import Record, Split
from ras_flow.training.data.rollout import Noise, no_retrieval, roll_out
from ras_flow.training.data.splits import Splitter
from ras_flow.training.data.stats import Stats, checksum, write_card
from ras_flow.training.data.writer import check_folder, write_splits

ATTEMPTS = 3
"""How often a model is asked for one reply that can be used."""

STEPS = ("attempt", "filter", "subqueries", "extract")
"""What models are asked for: the steps that tokens are counted by."""

_NONE = re.compile(r"\W*none\b", re.I)
_NUMBERS = re.compile(r"[\[(]?\d+[\])]?(?:\s*(?:,|;|and|&)\s*[\[(]?\d+[\])]?)*\.?", re.I)

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class Models:
    """The model of each step.

    Attributes:
        base: Attempts questions without retrieval; None to leave that out.
        filter: Keeps the documents that are needed.
        subqueries: Writes a subquery for each.
        extractor: Turns documents into triples (f_t2t).
    """

    base: LanguageModel | None
    filter: LanguageModel
    subqueries: LanguageModel
    extractor: LanguageModel


@dataclass(frozen=True)
class BuildConfig:
    """Settings of a build.

    Attributes:
        seed: Everything that is random follows from it.
        dev: Share of the questions for development.
        test: Share of the questions for testing.
        distractors: Other documents of the question in each hop; 0 as in the appendix.
        failures: Let hops fail as in :class:`~ras_flow.training.data.rollout.Noise`.
        concurrency: Questions under way at once.
        limit: Questions to build from, the first of the file; None for all.
    """

    seed: int = 13
    dev: float = 0.05
    test: float = 0.05
    distractors: int = 4
    failures: bool = False
    concurrency: int = 8
    limit: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("distractors", 0), ("concurrency", 1), ("limit", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ConfigurationError(f"{name} = {value} must be at least {least}.")

    @property
    def noise(self) -> Noise:
        """What goes wrong in the hops: nothing, unless ``failures`` is on."""
        passages = 1 + self.distractors
        if self.failures:
            return Noise(passages=passages, max_triples=10, lucky=0.0, respelled=0.0)
        return Noise(
            passages=passages,
            max_triples=10,
            found_by_question=1.0,
            found=1.0,
            lucky=0.0,
            dead_end=0.0,
            nothing=0.0,
            missed=0.0,
            respelled=0.0,
        )


async def build_hotpotqa_subq(
    path: Path,
    folder: Path,
    models: Models,
    config: BuildConfig | None = None,
    progress: Progress | None = None,
) -> Stats:
    """Build the data set.

    Args:
        path: Questions in HotpotQA's own format, or the shared one.
        folder: Where to; ``calls.jsonl`` of an earlier attempt in it is used.
        models: The model of each step.
        config: The settings.
        progress: Told how many questions are done.

    Returns:
        The statistics (table 4), as saved; ``usage`` has the tokens by step.

    Raises:
        InputError: The file is wrong; the message names item and field. Or the folder is none, or
            holds something else.
        ConfigurationError: Another build uses the folder.
        AuthenticationError: A key was refused.
        ModelUnavailableError: A model cannot be reached; what it answered before is kept.
        ModelResponseError: Requests were rejected, and there is no record.
    """
    config = config or BuildConfig()
    splitter = Splitter(config.seed, config.dev, config.test)
    check_folder(folder)
    rows = await asyncio.to_thread(lambda: list(read_rows(path))[: config.limit])
    stats = Stats()
    stats.dropped = {}
    (folder / "stats.json").unlink(missing_ok=True)
    with CallLog(folder / "calls.jsonl") as log:
        builder = _Builder(log, models, config, splitter, stats.dropped)
        collected: list[Record] = []
        done = 0
        async with aclosing(in_order(builder.records, rows, config.concurrency)) as built:
            async for _, records in built:
                collected += records
                done += 1
                if progress:
                    progress("building", done, len(rows))
        if builder.rejected and not collected:
            raise builder.rejected
        stats.usage = {step: asdict(usage) for step, usage in sorted(log.usage.items())}

    def of(split: Split) -> Iterator[Record]:
        return (record for record in collected if record["split"] == split)

    await asyncio.to_thread(write_splits, folder, of, stats)
    stats.checksums = {path.name: await asyncio.to_thread(checksum, path)}
    stats.settings = asdict(config)
    stats.inputs = {path.name: {"all": len(rows)}}
    await asyncio.to_thread(write_card, folder, stats)
    return stats


def cost(stats: Stats, prices: dict[str, tuple[float, float]]) -> float:
    """Return what a build cost.

    Args:
        stats: Its statistics.
        prices: By step, USD for a million input and a million output tokens.

    Returns:
        US dollars, for all tokens of the build, those of an earlier attempt among them.
    """
    parts = [
        (used["input_tokens"] * prices[step][0] + used["output_tokens"] * prices[step][1]) / 1e6
        for step, used in stats.usage.items()
        if step in prices
    ]
    return float(sum(parts))


class _Builder:
    """Turns a row into records."""

    def __init__(
        self,
        log: CallLog,
        models: Models,
        config: BuildConfig,
        splitter: Splitter,
        dropped: dict[str, int],
    ) -> None:
        self.config, self.splitter, self.dropped = config, splitter, dropped
        self.filter = LoggedModel(models.filter, log, "filter")
        self.writer = LoggedModel(models.subqueries, log, "subqueries")
        self.extractor = PromptedExtractor(
            LoggedModel(models.extractor, log, "extract"), form_for(models.extractor)
        )
        base = models.base
        self.base = PromptedAnswerer(LoggedModel(base, log, "attempt")) if base else None
        self.pool = Pool([])
        self.rejected: ModelResponseError | None = None
        self.named: Counter[str] = Counter()

    async def records(self, row: Row) -> list[Record]:
        """Return a question's records; none for one that cannot be used."""
        question, answer = row.text("question"), row.text("answer")
        split = self.splitter(question)
        id = row.first_text("id", "_id")
        again = self.named[id]
        self.named[id] += 1
        case = Case(
            source="hotpotqa-subq",
            id=id,
            question=question,
            answer=answer,
            guessable=answer.lower() in ("yes", "no"),
            again=again,
        )
        try:
            known = self.base is not None and await knows(case, self.base)
        except ModelResponseError as error:
            self.rejected = error
            return self._drop("attempt: the request was rejected")
        if known:
            return no_retrieval(case, split)
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
        pages = await self._pages(needed, others)
        steps = tuple(
            Step((subquery,), page.triples, page, (at - 1,) if at else ())
            for at, (subquery, page) in enumerate(zip(subqueries, pages, strict=False))
        )
        if not all(step.facts for step in steps):
            return self._drop("a document without triples")
        case = replace(case, steps=steps, context=tuple(pages[len(steps) :]))
        noise, seed = self.config.noise, self.config.seed
        return list(roll_out(case, self.pool, noise, seed=seed, number=0, split=split))

    def _drop(self, reason: str) -> list[Record]:
        self.dropped[reason] = self.dropped.get(reason, 0) + 1
        return []

    async def _needed(
        self, question: str, gold: list[tuple[str, str]]
    ) -> list[tuple[str, str]] | None:
        """Step 1 (appendix C.1): the documents that are needed, in the order to be found."""

        def read(text: str) -> tuple[list[int], str | None]:
            line = next((line.strip() for line in text.split("\n") if line.strip()), "")
            line = re.sub(r"^(?:output|answer|texts?|numbers?)\s*:\s*", "", line, flags=re.I)
            if _NONE.match(line):
                return [], None
            numbers = [int(n) for n in re.findall(r"\d+", line)] if _NUMBERS.fullmatch(line) else []
            wrong = [n for n in numbers if not 1 <= n <= len(gold)]
            if not numbers or wrong:
                return [], f"Write numbers from 1 to {len(gold)}, separated by commas, or: none."
            return list(dict.fromkeys(numbers)), None

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
            asked = {normalize_question(text) for text in [*made, *([question] if made else [])]}

            def read(text: str, asked: set[str] = asked) -> tuple[str, str | None]:
                line = next((line for line in text.split("\n") if line.strip()), "")
                plan = parse_plan(f"[SUBQ] {line}")
                if plan.label != "SUBQ":
                    return "", "Write one short question."
                if normalize_question(plan.subquery) in asked:
                    return "", "This was asked before. Ask what the text adds."
                return plan.subquery, None

            prompt = subquery_prompt(question, document, made)
            subquery = await self._asked(self.writer, prompt, 80, read)
            if subquery is None:
                self._drop("subqueries: no usable reply")
                return None
            made.append(subquery)
        return made

    async def _pages(
        self, needed: list[tuple[str, str]], others: list[tuple[str, str]]
    ) -> list[Page]:
        """Line 12: g_i <- f_t2t(d_i), for the needed documents and the distractors."""
        texts = needed + others
        passages = [make_passage(title, text) for title, text in texts]
        made = await self.extractor.extract(passages)
        for extraction in made[: len(needed)]:
            if extraction.error is not None:
                self.rejected = ModelResponseError(extraction.error)
        return [
            Page(title, tuple(refine(extraction.triples, title, text).triples), text)
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
            value, problem = read(made.text)
            if problem is None:
                return value
            prompt = again(prompt, made.text, problem)
        return None
