"""The extractor f_t2t as a language model (eq. 4), and the one that extracts nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from hashlib import sha256

from ras_flow.documents.split import MAX_WORDS, split_text
from ras_flow.errors import ModelResponseError
from ras_flow.formats.headings import topic
from ras_flow.formats.normalize import name_key
from ras_flow.formats.reply import spoken
from ras_flow.formats.rows import read_rows
from ras_flow.formats.text import plain, scrub
from ras_flow.formats.triples import Spo, format_triple, parse_triples
from ras_flow.llms.local.text import LOOP
from ras_flow.parts.prompted.forms import Form, form_for, text_form
from ras_flow.parts.prompted.prompting import ask, room
from ras_flow.parts.prompted.together import Share, generate_together
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Extraction, Generation, Message
from ras_flow.settings.context import ExtractorOutput
from ras_flow.state.schema import Passage
from ras_flow.support.concurrency import all_or_none

STOP = ("\nTitle:", "\nText:")

MAX_SOURCE = 512
"""Tokens of text that are read at once, as in training (appendix D.1)."""

LEAST_SOURCE = 32
"""Tokens of text that a model's window must leave."""

MOST_PARTS = 256
"""Parts of about 100 words that one passage may be split into."""

MOST_TRIPLES = 64
"""Triples that are taken from one part, whatever the model writes about it."""

_LONGEST = MOST_PARTS * MAX_WORDS * 12
"""Characters above which a passage has too many parts without a look at them."""

_TITLE = 300
"""Characters of a title that are read."""


class PromptedExtractor:
    """Asks for the triples of each passage.

    Rows of tables need no model. A passage longer than 512 tokens is read in parts of about 100
    words, each under its title; one that was given twice is read once.
    """

    def __init__(self, model: LanguageModel, form: Form | None = None) -> None:
        self.model = model
        self.form = form = form or text_form()
        self.batch_size = model.batch_size
        if form.together:  # A local model's window is known once its weights are there.
            together = min(form.together, model.window // (MAX_SOURCE + form.max_new_tokens))
            self.batch_size = max(model.batch_size, together)
        asked = (list(form.prefix), form.max_new_tokens, form.schema, STOP, MAX_SOURCE, LOOP)
        self.identity = f"{model.identity}+{sha256(repr(asked).encode()).hexdigest()[:8]}"

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Extract each passage's triples."""
        # In a thread: counting tokens takes long, and loads a local model's tokenizer.
        parts = await asyncio.to_thread(lambda: [self._parts(passage) for passage in passages])
        wanted = list(
            dict.fromkeys(asked for some in parts if not isinstance(some, str) for asked in some[1])
        )
        made = dict(zip(wanted, await self._generate(wanted), strict=True))
        return [
            Extraction([], error=some, calls=0)
            if isinstance(some, str)
            else self._extraction(some[0], [(text, made[asked]) for asked, text in some[1].items()])
            for some in parts
        ]

    def _parts(self, passage: Passage) -> tuple[list[Spo], dict[str, str]] | str:
        """Return the facts of a passage's tables, and its other parts by their prompts.

        If the passage cannot be read, return why.
        """
        title, text = (scrub(passage[name]).strip() for name in ("title", "text"))
        title = topic(title, text)[:_TITLE]
        facts, text = read_rows(text, title)
        empty = self.form.write(title, "")
        space = room(self.model, self.form.prefix) - self.model.count_tokens(empty)
        if space < LEAST_SOURCE:
            return (
                f"The window of the extractor ({self.model.window} tokens) leaves no room for "
                "text. Use a model with a larger window."
            )
        parts: list[str] = []
        if len(text) <= _LONGEST:
            parts = list(self._split(text, min(space, MAX_SOURCE)))
        if len(text) > _LONGEST or len(parts) > MOST_PARTS:
            return (
                f"It has {len(text)} characters, and more than {MOST_PARTS} parts of {MAX_WORDS} "
                "words. Split it into smaller documents, or index it with `ras-flow index build`."
            )
        return facts, {self.form.write(title, part): part for part in parts}

    def _split(self, text: str, limit: int, words: int = MAX_WORDS) -> Iterator[str]:
        """Yield a text, or parts of it that are short enough."""
        if not text:
            return
        if words < 1 or self.model.count_tokens(text) <= limit:
            yield text
            return
        for part in split_text(text, words):
            yield from self._split(part, limit, words // 2)

    async def _generate(self, texts: Sequence[str]) -> list[Generation | ModelResponseError]:
        """Ask about each text; what the model cannot read fails alone."""
        if not texts:
            return []
        if self.form.together is not None:
            groups = [texts[i : i + self.batch_size] for i in range(0, len(texts), self.batch_size)]
            made = await all_or_none(
                generate_together(self.model, self.form, group, STOP) for group in groups
            )
            return [one for group in made for one in group]
        if len(texts) > 1 and self.model.batch_size == 1:
            return await self._one_by_one(texts)
        asked: list[list[Message]] = [ask(self.form.prefix, text) for text in texts]
        try:
            return list(
                await self.model.generate(asked, max_new_tokens=self.form.max_new_tokens, stop=STOP)
            )
        except ModelResponseError as error:
            if len(texts) == 1:
                return [error]
        return await self._one_by_one(texts)

    async def _one_by_one(self, texts: Sequence[str]) -> list[Generation | ModelResponseError]:
        alone = await all_or_none(self._generate([text]) for text in texts)
        return [made for [made] in alone]

    def _extraction(
        self, facts: Sequence[Spo], parts: Sequence[tuple[str, Generation | ModelResponseError]]
    ) -> Extraction:
        """Join what was made of a passage's parts."""
        triples: dict[tuple[str, ...], Spo] = {tuple(map(name_key, fact)): fact for fact in facts}
        dropped: list[str] = []
        failed: dict[str, str] = {}
        good = [made for _, made in parts if isinstance(made, Generation)]
        for text, part in parts:
            if isinstance(part, ModelResponseError):
                failed[text] = str(part)
                continue
            said = spoken(part.text)
            parsed = parse_triples(said)
            if not parsed.triples and (problem := _problem(said, parsed.dropped, part.truncated)):
                failed[text] = problem
            for triple in parsed.triples[:MOST_TRIPLES]:
                triples.setdefault(tuple(map(name_key, triple)), triple)
            dropped += [format_triple(*triple) for triple in parsed.triples[MOST_TRIPLES:]]
            dropped += parsed.dropped
        error = next(iter(failed.values()), None)
        if error and len(parts) > 1:
            error = f"{len(failed)} of its {len(parts)} parts failed: {error}"
        return Extraction(
            list(triples.values()),
            dropped,
            error,
            input_tokens=sum(part.input_tokens for part in good),
            output_tokens=sum(part.output_tokens for part in good),
            calls=sum(not isinstance(made, Share) for _, made in parts),
            left=list(failed) if facts or len(failed) < len(parts) else [],
            cached_tokens=sum(part.cached_tokens for part in good),
        )


def make_extractor(
    model: LanguageModel, output: ExtractorOutput = "text", *, together: bool = False
) -> PromptedExtractor:
    """Make an extractor of a language model, asked in the form that suits it.

    ``together`` has a chat model read several passages at once.
    """
    return PromptedExtractor(model, form_for(model, output, together=together))


class KeptText:
    """Extracts nothing; planner and answerer read the passages themselves (paper, table 2)."""

    identity = "none"
    batch_size = 1_000

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Return an extraction without triples for each passage, at no cost."""
        return [Extraction([]) for _ in passages]


def _problem(said: str, unread: Sequence[str], truncated: bool) -> str | None:
    """Return why a reply without triples is a failure; None if it says that it found no facts."""
    if said.strip():
        return f"The model wrote no triples: {plain(said)[:80]!r}." if unread else None
    limit = "came to its limit of new tokens before it wrote" if truncated else "did not write"
    return f"The model {limit} anything."
