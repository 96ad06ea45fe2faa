"""A prompted language model that reads a hop in one call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

from ras_flow.documents.split import split_text
from ras_flow.formats.hop_reply import HopReply, facts_as_json, parse_hop_reply
from ras_flow.formats.hop_view import format_hop, new_passages, with_new
from ras_flow.formats.reply import spoken
from ras_flow.llms.local.tuned import HOP
from ras_flow.parts.prompted.prompting import ask, prefix_for, room
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Generation, HopRequest, Message, Reply
from ras_flow.prompts import hop_reader as prompts
from ras_flow.settings.context import ExtractorOutput, Reads
from ras_flow.settings.tasks import DEFAULT_TASK
from ras_flow.state.schema import Passage
from ras_flow.support.concurrency import all_or_none

FACT_TOKENS = 400
"""New tokens for facts and subqueries, beside those of the answer."""

ASKED = "qa"
"""The preset of models that were not trained: what a person asks."""

STOP = ("\nQuestion:", "\nSearch:")

PIECE_WORDS = 400
"""Words of the pieces in which a document is read that is too long to be read at once."""


class PromptedHopReader:
    """Notes a hop's facts and names the next step, in one call of a language model.

    New passages that do not fit into its window together are read one part after the other; the
    step is that of the last part.
    """

    def __init__(
        self, model: LanguageModel, output: ExtractorOutput = "text", reads: Reads = "facts"
    ) -> None:
        self.model = model
        self.identity = model.identity
        self._trained = HOP in getattr(model, "trained_for", ())
        self._json = output == "json" and not self._trained
        self._reads = reads
        # Small models name the passages that led to an answer, be it right or wrong.
        self.cites = not self._trained
        self.task = DEFAULT_TASK if self._trained else ASKED

    async def read(self, requests: Sequence[HopRequest]) -> list[Reply]:
        """Read the last search of each request."""
        return await all_or_none(map(self._read, requests))

    async def _read(self, request: HopRequest) -> Reply:
        prefix = self._prefix(request)
        form = f"\n{request.instruction}" if self._trained and request.instruction else ""

        def count() -> tuple[int, list[HopRequest]]:
            space = room(self.model, prefix) - self.model.count_tokens(form)
            return space, list(self._parts(request, space))

        # In a thread: a local model's first count of tokens loads its tokenizer.
        space, parts = await asyncio.to_thread(count)
        made: list[Generation] = []
        lost = 0
        for part in parts:
            view = await asyncio.to_thread(
                format_hop, part, max_tokens=space, count_tokens=self.model.count_tokens
            )
            lost += view.lost_triples
            more: dict[str, Any] = {}
            if self._json:
                more["schema"] = prompts.schema(known=request.may_know)
            made += await self.model.generate(
                [ask(prefix, f"{view.text}{form}")],
                max_new_tokens=FACT_TOKENS + request.max_new_tokens,
                stop=STOP,
                **more,
            )
        facts = [_facts(parse_hop_reply(part.text)) for part in made[:-1]]
        return Reply(
            "\n".join([*facts, spoken(made[-1].text)]),
            sum(part.input_tokens for part in made),
            sum(part.output_tokens for part in made),
            lost,
            calls=len(made),
            truncated=made[-1].truncated,
            cached_tokens=sum(part.cached_tokens for part in made),
        )

    def _prefix(self, request: HopRequest) -> list[Message]:
        told = prompts.instruction(
            reads=self._reads,
            guess=request.guess,
            known=request.may_know,
            form=request.instruction,
            json=self._json,
        )
        examples = prompts.EXAMPLES
        if self._json:
            examples = [
                (seen, _json(parse_hop_reply(reply), known=request.may_know))
                for seen, reply in examples
            ]
        return prefix_for(self.model, HOP, told, examples)

    def _parts(self, request: HopRequest, space: int) -> Iterator[HopRequest]:
        """Yield requests whose new passages fit, all of them together if they do."""
        count = self.model.count_tokens
        new = new_passages(request)
        bare = with_new(request, {}) if new else request
        left = space - count(format_hop(bare).text)
        if sum(count(passage["text"]) + count(passage["title"]) for passage in new.values()) < left:
            yield request
            return
        batch: dict[int, Passage] = {}
        for number, passage in new.items():
            for text in split_text(passage["text"], PIECE_WORDS):
                taken = sum(count(f"{one['title']} {one['text']}") + 8 for one in batch.values())
                if batch and taken + count(f"{passage['title']} {text}") + 8 > left:
                    yield with_new(request, batch)
                    batch = {}
                before = f"{batch[number]['text']}\n" if number in batch else ""
                batch[number] = {**passage, "text": before + text}
        yield with_new(request, batch) if batch else request


def _facts(reply: HopReply) -> str:
    return "\n".join(f"{' | '.join(fact.spo)} {list(fact.numbers)}" for fact in reply.facts)


def _json(reply: HopReply, *, known: bool) -> str:
    step: dict[str, Any] = {"search": list(reply.subqueries)}
    if reply.label == "ANSWER":
        step |= {"answer": reply.text, "passages": list(reply.numbers)}
    fields = {"facts": facts_as_json(reply.facts), **step}
    return json.dumps(prompts.as_json(fields, known=known), ensure_ascii=False)
