"""Labels that a capable model wrote, and the texts that they belong to, put together again.

``triples.jsonl.gz`` has the triples of passages, by the passage's id; ``hops.jsonl.gz`` the replies
to what a model of the one-call loop is shown, by a checksum of it. ``triples.md`` and ``hops.md``
are what the model was told. The texts themselves stay in the data sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from ras_flow.datasets.reading import read_rows
from ras_flow.datasets.wording import untokenize
from ras_flow.errors import InputError
from ras_flow.parts.records import Generation, Message
from ras_flow.state.schema import passage_id
from ras_flow.training.splits import fraction
from ras_flow.training.triples.examples import Example
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import read_inputs
from recipes.graph_llm.sentences import split_sentences
from recipes.graph_llm.sources.texts import Texts
from recipes.t2rag.convert import TextRow

SEED, WATCHED = 13, 0.05
"""Decide which questions a training is watched by, and how many."""

HOPS, TRIPLES, INVENTED = (
    Path(__file__).parent / f"{name}.jsonl.gz" for name in ("hops", "triples", "invented")
)


class LabelledReplies:
    """A student of :func:`recipes.lessons.play_texts` that replies as the labels say.

    Where there is none it says nothing, so the teacher's reply is followed.
    """

    def __init__(self, file: Path = HOPS) -> None:
        self._replies = {row.text("key"): row.text("reply") for row in read_rows(file)}

    def of(self, shown: str) -> str | None:
        """Return the reply to what a model is shown."""
        return self._replies.get(sha256(shown.encode()).hexdigest()[:16])

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        """Reply to each prompt's last message."""
        return [Generation(self.of(prompt[-1]["content"]) or "") for prompt in prompts]


def labelled_rows(rows: Iterable[TextRow], labels: LabelledReplies) -> Iterator[TextRow]:
    """Yield the rows that have a label, with it as their output; some questions' to watch by."""
    for row in rows:
        if reply := labels.of(row["input"]):
            question = row["input"].partition("\n")[0]
            split = "dev" if fraction(SEED, "watched", question) < WATCHED else "train"
            yield {**row, "output": reply, "split": split}


def labelled_passages(
    mixes: Iterable[MixConfig], paragraphs: Path | None = None, file: Path = TRIPLES
) -> list[Example]:
    """Join the triples with the pages of mixes' training questions, and QED's paragraphs."""
    labels = {row.text("key"): tuple(row.triples("triples")) for row in read_rows(file)}
    found: dict[str, Example] = {}
    for title, text in (*_pages(mixes), *(_paragraphs(paragraphs) if paragraphs else ())):
        key = passage_id(title, text)
        if key in labels:
            example = Example(f"labelled-{key}", "labelled", title, text, labels[key])
            found.setdefault(key, example)
    if not found:
        raise InputError(f"No page of the mixes has a label in {file}. Name those of its texts.")
    return list(found.values())


def _pages(mixes: Iterable[MixConfig]) -> Iterator[tuple[str, str]]:
    for config in mixes:
        for cases in read_inputs(config).cases:
            for step in (step for case in cases["train"] for step in case.steps):
                yield step.page.title, step.page.text


def _paragraphs(path: Path) -> Iterator[tuple[str, str]]:
    for row in read_rows(path):
        text = split_sentences(untokenize(row.text("paragraph")))
        page = Texts().page(untokenize(row.text("title")), text)
        yield page.title, page.text
