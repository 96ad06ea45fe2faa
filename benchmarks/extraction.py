"""How fast passages become triples: one by one, in a batch, and for several runs at once.

All ways extract the same passages with the same model, and must write the same text; quality is
told beside speed. Read the ratios: the ways are timed within one process, each `--rounds` times in
turn. Those by CPU time (of a local model, with OMP_NUM_THREADS=1) hold on a machine that does other
things as well. Run it with:

    python benchmarks/extraction.py [--passages 16] [--tokens 64] [--rounds 1]
    python benchmarks/extraction.py --model local:FOLDER --facts 2wiki_ctx_train.jsonl.gz
    python benchmarks/extraction.py --model openai:NAME --base-url http://localhost:8000/v1 \
        [--output trained]
    RAS_FLOW_LOCAL_DTYPE=bfloat16 python benchmarks/extraction.py --ways batched --passages 1024 \
        --batch-size 512                                     # a GPU's tokens a second

The passages are the demo corpus's, repeated if there are too few, or with `--facts` those of a
2WikiMultihopQA file: then the share of their answer-bearing facts that was found is told too.

"runs at once" is as many callers of four passages each as there are passages for; "the same, not
joined" is what they took before a local model joined the calls that wait for it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple, get_args

from ras_flow.datasets.facts import FactPassage, fact_recall, read_facts
from ras_flow.demo import passages as demo_passages
from ras_flow.llms import load_language_model
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.tuned import extractor_name
from ras_flow.parts import Extraction, Generation, LanguageModel, Message
from ras_flow.parts.prompted import PromptedExtractor
from ras_flow.parts.prompted.forms import Form, form_for
from ras_flow.settings.context import DEFAULT_MODEL, ExtractorOutput
from ras_flow.state.schema import Passage, make_passage

A_RUN = 4
"""Passages that a run asks for."""


class Recorded:
    """A language model that notes what it wrote."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.identity, self.window = model.identity, model.window
        self.batch_size = model.batch_size
        self.written: dict[str, Generation] = {}

    def count_tokens(self, text: str) -> int:
        """Count as the model does."""
        return self._model.count_tokens(text)

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        """Generate as the model does."""
        made = await self._model.generate(prompts, max_new_tokens=max_new_tokens, stop=stop)
        self.written.update(zip([p[-1]["content"] for p in prompts], made, strict=True))
        return made


Way = Callable[[PromptedExtractor, list[Passage]], Awaitable[list[Extraction]]]


async def one_by_one(extractor: PromptedExtractor, passages: list[Passage]) -> list[Extraction]:
    """Ask for each passage after the one before it."""
    return [(await extractor.extract([passage]))[0] for passage in passages]


async def batched(extractor: PromptedExtractor, passages: list[Passage]) -> list[Extraction]:
    """Ask for all at once."""
    return await extractor.extract(passages)


async def runs_at_once(extractor: PromptedExtractor, passages: list[Passage]) -> list[Extraction]:
    """Ask for four at once, in several tasks."""
    made = await asyncio.gather(*map(extractor.extract, _parts(passages)))
    return [one for some in made for one in some]


async def not_joined(extractor: PromptedExtractor, passages: list[Passage]) -> list[Extraction]:
    """Ask for four at once, one run after the other: the compute lane has room for one."""
    made = [await extractor.extract(part) for part in _parts(passages)]
    return [one for some in made for one in some]


WAYS: dict[str, Way] = {
    "one by one": one_by_one,
    "batched": batched,
    "runs at once": runs_at_once,
    "the same, not joined": not_joined,
}


class Measured(NamedTuple):
    """Seconds on the clock and of processors, generated tokens, texts and triples of one way."""

    seconds: float
    cpu: float
    tokens: int
    texts: dict[str, str]
    made: list[Extraction]


async def measure(way: Way, model: LanguageModel, passages: list[Passage], form: Form) -> Measured:
    """Time one way."""
    recorded = Recorded(model)
    extractor = PromptedExtractor(recorded, form)
    began, worked = perf_counter(), process_time()
    made = await way(extractor, passages)
    seconds, cpu = perf_counter() - began, process_time() - worked
    print(f"{way.__name__}: {seconds:.1f} s", file=sys.stderr, flush=True)
    texts = {text: generation.text for text, generation in recorded.written.items()}
    return Measured(seconds, cpu, sum(one.output_tokens for one in made), texts, made)


async def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens a passage at most")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--base-url")
    parser.add_argument("--output", choices=get_args(ExtractorOutput), default="text")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--batch-size", type=int, help="texts that a local model decodes at once")
    parser.add_argument("--facts", type=Path, help="a file in the form of 2WikiMultihopQA")
    given = parser.parse_args()
    name = extractor_name(given.model)
    model = load_language_model(name, base_url=given.base_url)
    if given.batch_size:
        model = LocalLanguageModel(name.removeprefix("local:"), batch_size=given.batch_size)
    stated = read_facts(given.facts) if given.facts else demo(given.passages)
    form = replace(form_for(model, given.output), max_new_tokens=given.tokens)
    # Loads the model and reads the prompt's start.
    last = [one.passage for one in stated[-2:]]
    await measure(batched, model, last, replace(form, max_new_tokens=4))
    stated = stated[: given.passages]
    passages = [one.passage for one in stated]
    rounds = [
        {name: await measure(WAYS[name], model, passages, form) for name in given.ways}
        for _ in range(given.rounds)
    ]
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{given.model}; {len(passages)} passages, at most {given.tokens} new tokens each\n")
    print(
        f"| way | seconds | tokens/s | passages/s | times {given.ways[0]} | by CPU time "
        "| same output | triples | facts found |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    base = rounds[0][given.ways[0]]
    for name in given.ways:
        seconds = statistics.median(each[name].seconds for each in rounds)
        by_clock, by_cpu = (
            statistics.median(
                getattr(each[given.ways[0]], clock) / getattr(each[name], clock) for each in rounds
            )
            for clock in ("seconds", "cpu")
        )
        found = rounds[0][name]
        same = sum(found.texts[text] == base.texts[text] for text in base.texts)
        print(
            f"| {name} | {seconds:.1f} | {found.tokens / seconds:.0f} "
            f"| {len(passages) / seconds:.2f} | {by_clock:.2f} | {by_cpu:.2f} "
            f"| {same} of {len(base.texts)} | {sum(len(one.triples) for one in found.made)} "
            f"| {told(stated, found.made)} |"
        )


def demo(count: int) -> list[FactPassage]:
    """Return the demo corpus, repeated under numbered titles; no facts of it are known."""
    known = demo_passages()
    rounds = range(-(-count // len(known)))
    named = [
        (f"{d['title']} {at}" if at else d["title"], d["text"]) for at in rounds for d in known
    ]
    return [FactPassage(make_passage(title, text), ()) for title, text in named]


def told(stated: Sequence[FactPassage], made: Sequence[Extraction]) -> str:
    """Say which share of the known facts was found."""
    facts = sum(len(one.facts) for one in stated)
    found = fact_recall(stated, [one.triples for one in made])
    return f"{found:.0%} of {facts}" if facts else "not known"


def _parts(passages: list[Passage]) -> list[list[Passage]]:
    return [passages[at : at + A_RUN] for at in range(0, len(passages), A_RUN)]


if __name__ == "__main__":
    asyncio.run(main())
