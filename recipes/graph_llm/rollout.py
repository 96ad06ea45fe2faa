"""Runs played on a case: what planner and answerer see at each hop, and what they should say.

Training sees what inference sees, so the chain is made by the very functions of the graph: pages
are retrieved and merged into G_Q, and the view of it is written down. What is simulated is the
retriever and its failures:

* Hop 0 asks the question itself (q_0 = Q), so the first plan's target is [SUBQ] with Q. Q finds
  what it names itself, usually; what it names only by a description ("the director of ...") it
  finds rarely, and never before the description is resolved.
* Each hop has about five passages' worth of triples. Beside the gold page there are the pages
  given with the question and pages of other questions of the split (see
  :mod:`~recipes.graph_llm.pool`), in any order.
* A hop fails in three ways: the gold page is not among the five, the page is there but the
  extractor missed the facts, or (rarer) nothing could be extracted. The target is then the next
  subquery that can be asked, fewest asked first; where there is only one, another phrasing of it.
  A page of which the extractor missed the facts is read no better later. When all phrasings are
  used up, or a mix gives up earlier, no sensible subquery is left: the plan is [NOT FOUND] where
  the mix gives up, and the run ends without an answer.
* [SUFFICIENT] is the target when, and only when, the facts of all steps are in the graph. Some
  runs have a step that no passage answers: they never suffice, however long the chain.
* The answer is trained on the same chain as [SUFFICIENT].

The target is a function of what is visible: the same graph and chain get the same plan. Where a
mix says that the nearest triples of each hop alone are read, that is what is visible. Chance comes
from the seed, the case's id and the number of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.state.kg import by_hop, merge_triples, to_new_triples, triple_id
from ras_flow.state.schema import Extracted, Hop, Triple
from ras_flow.training.data.records import Link, Record
from ras_flow.training.splits import Split
from recipes.graph_llm.agenda import Agenda
from recipes.graph_llm.case import Case, Page, linked_words, words_of
from recipes.graph_llm.noise import Noise
from recipes.graph_llm.odd_case import odd_case
from recipes.graph_llm.passage_text import passage_text
from recipes.graph_llm.pool import Pool
from recipes.graph_llm.recorder import Recorder
from recipes.graph_llm.surface import Surface

Reading = Callable[[Mapping[str, Triple], Sequence[Hop]], Mapping[str, Triple]]
"""Returns what planner and answerer read of the graph G_Q and the subquery chain."""


def roll_out(
    case: Case,
    pool: Pool,
    noise: Noise,
    *,
    seed: int,
    number: int,
    split: Split,
    as_text: bool = False,
    reading: Reading | None = None,
    answer_passages: int = 0,
    give_up: int | None = None,
) -> Iterator[Record]:
    """Play one run."""
    rng = Random(f"{seed}\0{case.source}\0{case.id}\0{number}")
    case = odd_case(case, noise.odd_case, rng)
    names = Recorder(case, split, str(number))
    yield names.first_plan()
    run = _Run(case, pool, noise, rng, as_text, reading, answer_passages, give_up)
    run.search(" ".join(case.question.split()), step=None)
    while True:
        chain = run.chain()
        seen = (" ".join(triple) for link in chain for triple in link["triples"])
        target, step = run.agenda.next(run.missing(), seen)
        if target is not None and len(chain) < noise.max_hops:
            page = case.steps[step].page.title if step is not None else ""
            yield names.record("plan", f"plan-{len(chain)}", chain, target, page=page)
        if target is None or target["label"] != "SUBQ" or len(chain) >= noise.max_hops:
            if not run.untold():
                chain = run.chain(answers=True)
                yield names.record("answer", "answer", chain, {"answer": run.answer()})
            return
        run.search(target["subquery"], step)


class _Run:
    """The state of one run: hops and graph, as the state of the real graph holds them."""

    def __init__(
        self,
        case: Case,
        pool: Pool,
        noise: Noise,
        rng: Random,
        as_text: bool,
        reading: Reading | None,
        answer_passages: int,
        give_up: int | None,
    ) -> None:
        self.case, self.pool, self.noise, self.rng = case, pool, noise, rng
        self.as_text, self.reading, self.answer_passages = as_text, reading, answer_passages
        self.surface = Surface(rng, noise.respelled)
        self.order = rng.random()
        self.hops: list[Hop] = []
        self.triples: dict[str, Triple] = {}
        self.visible: Mapping[str, Triple] = {}
        self.texts: list[list[list[str]]] = []
        self.agenda = Agenda(case, give_up)
        self.drawn: set[Page] = set()
        dead = rng.randrange(len(case.steps)) if rng.random() < noise.dead_end else None
        self.dead = {at for at, step in enumerate(case.steps) if step.missing or at == dead}
        facts = [fact for step in case.steps for fact in step.facts]
        self.gold = {linked_words(fact) for fact in facts}
        self.told = [{linked_words(fact) for fact in step.facts} for step in case.steps]
        self.slots = {(normalize_name(s), normalize_name(p)) for s, p, _ in facts}
        self.titles = {step.page.title for step in case.steps} - {""}

    def missing(self) -> list[int]:
        """Return the steps whose facts are not all read."""
        return [
            at
            for at, step in enumerate(self.case.steps)
            if not step.facts
            or not all(triple_id(*self.surface(fact)) in self.visible for fact in step.facts)
        ]

    def untold(self) -> list[int]:
        """Return the steps whose facts the answerer reads neither as triples nor in a passage."""
        if self.as_text:  # what is missing is left out of the text
            return self.missing()
        told = {(title, text) for passages in self.texts for title, text in passages}
        steps = self.case.steps
        return [
            at
            for at in self.missing()
            if not (steps[at].facts and (steps[at].page.title, steps[at].page.text) in told)
        ]

    def answer(self) -> str:
        """Return the answer in the spelling of the graph, so that copying it is right."""
        if self.as_text:
            return self.case.answer
        wanted = normalize_name(self.case.answer)
        missing = self.missing()
        read = [step for at, step in enumerate(self.case.steps) if at not in missing]
        for step in reversed(read):
            for subject, _, object in step.facts:
                for name in (object, subject):
                    if normalize_name(name) == wanted:
                        return self.surface.name(name)
        return self.case.answer

    def search(self, subquery: str, step: int | None) -> None:
        """Retrieve for a subquery and merge what the pages hold."""
        self.agenda.ask(subquery, step)
        found: list[Page] = []
        open_now = self.agenda.askable(self.missing())
        for at in open_now:
            chance = self.noise.lucky
            if step is None:
                chance = self.noise.found_by_question
            elif at == step:
                chance = self.noise.found
            if self.rng.random() < chance and at not in self.dead:
                found.append(self._kept(at))
            elif step in (None, at) and self.rng.random() < self.noise.missed:
                found.append(self._kept(at, facts=False))
                self.dead.add(at)
        if step is None and found and self.rng.random() < self.noise.lucky:
            after = [
                at
                for at, other in enumerate(self.case.steps)
                if other.needs and set(other.needs) <= set(open_now) and at not in self.dead
            ]
            found += [self._kept(at) for at in after[:1]]
        found = [page for page in dict.fromkeys(found) if page.triples][: self.noise.passages]
        if not found and self.rng.random() < self.noise.nothing:
            self._add(subquery, [])
            return
        pages = found + self._distractors(subquery, self.noise.passages - len(found))
        self.rng.shuffle(pages)
        if self.noise.ranked and self.rng.random() < self.noise.ranked:
            pages = found + [page for page in pages if page not in found]
        self._add(subquery, pages)

    def chain(self, *, answers: bool = False) -> list[Link]:
        """Write the chain as the planner sees it, or the answerer."""
        if self.as_text:
            return [
                Link(subquery=hop["subquery"], triples=[], passages=passages)
                for hop, passages in zip(self.hops, self.texts, strict=True)
            ]
        seen = self.visible
        chain = [
            Link(
                subquery=hop["subquery"],
                triples=[
                    [seen[id]["subject"], seen[id]["predicate"], seen[id]["object"]] for id in ids
                ],
            )
            for hop, ids in zip(self.hops, by_hop(seen, self.hops), strict=True)
        ]
        if answers:
            for link, passages in zip(chain, self.texts, strict=True):
                if passages:
                    link["passages"] = passages
        return chain

    def _add(self, subquery: str, pages: Sequence[Page]) -> None:
        extracted = [
            Extracted(passage=_page_id(page), triples=[list(map(str, t)) for t in self._said(page)])
            for page in pages
        ]
        self.hops.append(
            Hop(
                index=len(self.hops),
                subquery=subquery,
                passages=[found["passage"] for found in extracted],
                scores=[],
            )
        )
        self.triples = merge_triples(self.triples, dict(to_new_triples(extracted)))
        self.visible = self.reading(self.triples, self.hops) if self.reading else self.triples
        most = None if self.as_text else self.answer_passages
        self.texts.append([[page.title, page.text] for page in pages[:most] if page.text])

    def _said(self, page: Page) -> list[Spo]:
        return [self.surface(triple) for triple in page.triples]

    def _kept(self, at: int, *, facts: bool = True) -> Page:
        """Return a step's page with all its facts or none, and as many other triples as fit."""
        step = self.case.steps[at]
        gold = set(step.facts)
        others = [triple for triple in step.page.triples if triple not in gold]
        others = [*self._kin(at), *others]
        room = max(self.noise.max_triples - len(gold), 0)
        # What other steps have to find is not given away by chance.
        others = [t for t in others if not self._given_away(t)][:room]
        # In any order, lest the place of a triple tell that it is the one.
        kept = sorted((gold if facts else set()) | set(others))
        Random(f"{self.order}\0{at}").shuffle(kept)
        hidden = self.gold - self.told[at] if facts else self.gold
        return self._seen(step.page, kept, hidden)

    def _kin(self, at: int) -> list[Spo]:
        """Return made-up facts for a step's page, the same ones each time."""
        if not self.noise.kin:
            return []
        rng = Random(f"{self.order}\0{at}\0kin")
        drawn = [
            self.pool.kin.fact(subject, predicate, rng)
            for subject, predicate, _ in self.case.steps[at].facts
            for _ in range(2)
            if rng.random() < self.noise.kin
        ]
        return [
            fact
            for fact in dict.fromkeys(drawn)
            if fact and (normalize_name(fact[0]), normalize_name(fact[1])) not in self.slots
        ]

    def _distractors(self, subquery: str, count: int) -> list[Page]:
        given = [page for page in self.case.context if page not in self.drawn]
        given = [page for page in given if page.triples and not self._tells(page)]
        self.rng.shuffle(given)
        # One place at least for a page of another question, where there are any.
        pages = given[: max(count - 1, 0) if self.pool.pages else count]
        pages += self.pool.draw(
            subquery,
            count - len(pages),
            self.rng,
            related=self.noise.related,
            refuse=self._tells,
        )
        self.drawn.update(pages)
        size = self.noise.max_triples
        return [self._seen(page, page.triples[:size], self.gold) for page in pages]

    def _seen(self, page: Page, triples: Sequence[Spo], hidden: set[frozenset[str]]) -> Page:
        # Beside triples a passage says all that it says in runs: no plan depends on it.
        text = passage_text(page, hidden) if self.as_text else page.text
        return Page(page.title, tuple(triples), text)

    def _tells(self, page: Page) -> bool:
        """Tell whether a page would answer a step, or contradict it."""
        return (
            page.title in self.titles
            or any(words <= page.words for words in self.gold)
            or not self.slots.isdisjoint(page.slots)
        )

    def _given_away(self, triple: Spo) -> bool:
        words = words_of(triple)
        return any(gold <= words for gold in self.gold)


def _page_id(page: Page) -> str:
    return repr((page.title, page.triples))
