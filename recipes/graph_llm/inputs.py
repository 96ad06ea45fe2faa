"""What the files of a mix hold, split by question and page before anything else is done with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from ras_flow.datasets.reading import read_rows
from ras_flow.documents.source import SourceDocument
from ras_flow.formats.normalize import normalize_name, normalize_question
from ras_flow.formats.triples import Spo
from ras_flow.training.data.writer import Progress, short_names
from ras_flow.training.splits import SPLITS, Apart, Split, fraction, questions_of
from recipes.graph_llm.case import Case, Page
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.sources import read_cases
from recipes.graph_llm.sources.texts import Texts, read_pages


@dataclass
class Inputs:
    """What the files of a mix hold.

    Attributes:
        cases: Cases of each source by split.
        pages: Pages of files of passages by split.
        counts: Questions of each file, and how many of each split.
        dropped: Rows of each file that no question could be made of.
    """

    cases: list[dict[Split, list[Case]]]
    pages: dict[Split, list[Page]]
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

    def all_pages(self, split: Split) -> Iterator[Page]:
        """Yield the pages of a split: those of its passages, then those of its questions."""
        yield from self.pages[split]
        for cases in self.cases:
            for case in cases[split]:
                yield from (step.page for step in case.steps)
                yield from case.context

    def all_cases(self, splits: Iterable[Split]) -> list[Case]:
        """Return the cases of splits, source by source."""
        return [case for of in self.cases for split in splits for case in of[split]]

    def facts(self, split: Split) -> Iterator[Spo]:
        """Yield the gold facts of a split's questions."""
        for cases in self.cases:
            for case in cases[split]:
                for step in case.steps:
                    yield from step.facts


def documents_of(
    cases: Iterable[Case], text_of: Callable[[Page], str] = lambda page: page.text
) -> list[SourceDocument]:
    """Return the pages of cases, distractors included, as what is searched."""
    texts = dict.fromkeys(
        (page.title, text_of(page))
        for case in cases
        for page in (*(step.page for step in case.steps), *case.context)
    )
    return [
        SourceDocument(f"{number:06d}", title, text)
        for number, (title, text) in enumerate(texts)
        if title and text
    ]


def read_inputs(config: MixConfig, progress: Progress | None = None) -> Inputs:
    """Read all files of a mix and split what they hold."""
    inputs = Inputs([], {split: [] for split in SPLITS})
    pages: list[Page] = []
    for number, passages in enumerate(config.passages):
        for page in read_pages(passages.file, passages.only):
            if progress:
                progress(f"reading {passages.file.name}", number, len(config.passages))
            pages.append(page)
    titled = {normalize_name(page.title): page for page in reversed(pages) if page.title}
    texts = Texts({page.text: page.triples for page in pages}, titled)
    names = short_names(config.files)
    read: list[list[Case]] = []
    for number, source in enumerate(config.sources):
        dropped: Counter[str] = Counter()
        read.append([])
        for case in read_cases(source.file, texts, kb=source.kb, dropped=dropped):
            if progress:
                progress(f"reading {source.file.name}", number, len(config.sources))
            read[-1].append(case)
        inputs.dropped |= {f"{names[source.file]}: {why}": n for why, n in dropped.items() if n}
    everything = ((case.question, case.titles) for cases in read for case in cases)
    apart = Apart(config, questions_of(config.asked), everything)
    for page in pages:
        inputs.pages[apart.of_page(page.title, page.text)].append(page)
    rows = read_rows(config.known) if config.known else ()
    known = {normalize_question(row.text("question")) for row in rows}
    named: Counter[tuple[str, str]] = Counter()
    groups: dict[object, Split] = {}
    for source, cases in zip(config.sources, read, strict=True):
        split_cases: dict[Split, list[Case]] = {split: [] for split in SPLITS}
        for case in cases:
            split = apart(case.question, case.titles)
            read_too = {step.page.title for step in case.steps} if split == "train" else set()
            # Wordings of one question that are in several splits stay in the first one's only.
            if (
                split is None
                or not all(apart.may_read(split, title) for title in read_too)
                or groups.setdefault((case.source, _evidence(case)), split) != split
            ):
                why = f"{names[source.file]}: questions too close to those of another split"
                inputs.dropped[why] = inputs.dropped.get(why, 0) + 1
                continue
            context = tuple(page for page in case.context if apart.may_read(split, page.title))
            again = named[case.source, case.id]
            named[case.source, case.id] += 1
            own = normalize_question(case.question) in known and split == "train"
            split_cases[split].append(replace(case, again=again, context=context, known=own))
        for of_split in split_cases.values():
            of_split.sort(key=lambda case: fraction(config.seed, "order", case.source, case.id))
        inputs.cases.append(split_cases)
        inputs.counts[names[source.file]] = {
            split: len({normalize_question(case.question) for case in of_split})
            for split, of_split in split_cases.items()
        }
    return inputs


def _evidence(case: Case) -> object:
    """Name what a question rests on; its own words, in any order, where nothing is known of that.

    So two questions whose options come in another order are one.
    """
    facts = frozenset(fact for step in case.steps for fact in step.facts)
    return facts or tuple(sorted(normalize_question(case.question).split()))
