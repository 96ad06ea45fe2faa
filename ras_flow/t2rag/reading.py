"""What a resolver's reply comes to: fills with their evidence, verdicts, new clues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ras_flow.formats.hop_reply import Fact
from ras_flow.formats.normalize import has_name
from ras_flow.formats.stated import is_stated
from ras_flow.formats.triples import Spo
from ras_flow.state.kg import as_spo, spo_of
from ras_flow.state.schema import Passage, Triple
from ras_flow.t2rag.board import Board, Standing
from ras_flow.t2rag.clues import bind, clue_id, fill_id, is_value, match, named, slots_of
from ras_flow.t2rag.formats.decomposition import MOST_CLUES
from ras_flow.t2rag.formats.resolution import Judged, Resolution, Value
from ras_flow.t2rag.records import Clue, Fill, Verdict, clue_of, united

MOST_NEW = 4
"""Clues that a reply may add."""


@dataclass(frozen=True)
class Seen:
    """What a resolver read in a round.

    ``asked`` are the clues that it was shown, ``passages`` what it read as numbers 1 and on, by id,
    ``texts`` how many of them as text; ``triples`` are the propositions.
    """

    round: int
    board: Board
    asked: Sequence[Standing]
    passages: Mapping[str, Passage]
    triples: Mapping[str, Triple]
    texts: int | None = None

    def cited(self, numbers: Iterable[int]) -> list[str]:
        """Return the passages of numbers; unknown ones name none."""
        ids = list(self.passages)
        return [ids[number - 1] for number in numbers if 0 < number <= len(ids)]

    def stating(self, value: str, spo: Spo) -> tuple[list[str], list[str]]:
        """Return the propositions and the passages that state a clue with a value filled in."""

        def states(title: str, text: str) -> bool:
            named = not value or has_name(f"{title} | {text}", value)
            return named and is_stated(spo, title, text)

        triples = [id for id, one in self.triples.items() if states("", " | ".join(spo_of(one)))]
        texts = list(self.passages.items())[: self.texts]
        return triples, [id for id, one in texts if states(one["title"], one["text"])]


@dataclass
class Read:
    """What a reply changes, as the state's channels take it."""

    fills: dict[str, Fill] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    clues: dict[str, Clue] = field(default_factory=dict)


def read_reply(reply: Resolution, seen: Seen, alternatives: int) -> Read:
    """Turn a reply into fills, at most so many alternatives of a slot, verdicts and clues."""
    read = Read()
    values = [(clue, one) for one in reply.values if (clue := _meant(one, seen.asked))]
    judged = [(seen.asked[one.clue - 1 : one.clue], one) for one in reply.verdicts if one.clue]
    new: list[Fact] = []
    for fact in reply.triples:  # A clue that was written out repeats one, or is new.
        both = [(one, match(one.form, fact.spo)) for one in (*seen.asked, *seen.board.known)]
        same = [(one, found) for one, found in both if found is not None]
        clue, filled = next((pair for pair in same if pair[1]), (None, {}))
        if clue:
            values += [(clue, Value(0, slot, said, fact.numbers)) for slot, said in filled.items()]
        elif same:
            repeated = [one for one, _ in same if one in seen.asked]
            judged.append((repeated, Judged(0, True, fact.numbers)))
        else:
            new.append(fact)
    _fill(_or_stated(values, seen), seen, read, alternatives)
    for clues, verdict in judged:
        for claim in clues:
            if not claim.form.blanks:
                _judge(claim.form.spo, verdict, seen, read)
    _add_clues(new[: max(0, min(MOST_NEW, MOST_CLUES - len(seen.board.clues)))], seen, read)
    return read


def _meant(value: Value, asked: Sequence[Standing]) -> Standing | None:
    """Return the clue whose slot a value fills: the one that is named, else one with that slot."""
    named = asked[value.clue - 1 : value.clue] if value.clue else []
    for one in [*named, *asked] if value.slot else named:
        if value.slot in one.form.open or (not value.slot and len(one.form.open) == 1):
            return one if is_value(value.value, one.form.open) else None
    return None


def _or_stated(
    values: Sequence[tuple[Standing, Value]], seen: Seen
) -> list[tuple[Standing, Value]]:
    """Where nothing states any value of a clue, take the one that a proposition gives, if any."""
    kept: list[tuple[Standing, Value]] = []
    for clue in {one.id: one for one, _ in values}.values():
        own = [value for one, value in values if one.id == clue.id]
        if clue.form.blanks == 1 and len(clue.form.open) == 1:
            [slot] = clue.form.open
            stated = (_evidence(clue, slot, one, {}, seen.board.values, seen)[1] for one in own)
            if not any(fill["grounded"] for fill in stated):
                own = [Value(0, slot, said) for said in _told(clue, seen)][:1] or own
        kept += [(clue, value) for value in own]
    return kept


def _told(clue: Standing, seen: Seen) -> Iterator[str]:
    """Yield what propositions put in a clue's open slot; "founded" is "founded by" turned round."""
    for one in seen.triples.values():
        subject, predicate, object = spo_of(one)
        active = predicate.removesuffix(" by")
        turned = active if active != predicate else f"{predicate} by"
        for said in ((subject, predicate, object), (object, turned, subject)):
            yield from (match(clue.form, said) or {}).values()


def _fill(
    values: Sequence[tuple[Standing, Value]], seen: Seen, read: Read, alternatives: int
) -> None:
    """Make fills, those first that what others of the reply fill does not depend on."""
    chosen, texts = dict(seen.board.chosen), dict(seen.board.values)
    waiting = [(clue, value.slot or clue.form.open[0], value) for clue, value in values]
    while waiting:
        told = {slot for _, slot, _ in waiting}
        ready = [
            (clue, slot, value)
            for clue, slot, value in waiting
            if not told.intersection(clue.form.open).difference(chosen, {slot})
        ] or waiting
        waiting = [one for one in waiting if one not in ready]
        for clue, slot, value in ready:
            bound = slots_of(spo_of(clue.clue))
            given = {one: chosen[one] for one in bound if one in chosen and one != slot}
            id, fill = _evidence(clue, slot, value, given, texts, seen)
            if id in read.fills:
                read.fills[id] = united(read.fills[id], fill)
            elif sum(one["slot"] == slot for one in read.fills.values()) < alternatives:
                read.fills[id] = fill
        for id, fill in read.fills.items():
            chosen.setdefault(fill["slot"], id)
            texts.setdefault(fill["slot"], fill["value"])


def _evidence(
    clue: Standing,
    slot: str,
    value: Value,
    given: dict[str, str],
    texts: Mapping[str, str],
    seen: Seen,
) -> tuple[str, Fill]:
    """Find what of the round states a value, if anything does."""
    spo = bind(spo_of(clue.clue), {**texts, slot: value.value}).spo
    said = as_spo(["" if slots_of((part, "", "")) else part for part in spo])
    triples, stating = seen.stating(value.value, said)
    cited = [id for id in seen.cited(value.numbers) if id in stating]
    shown = dict.fromkeys(id for one in triples for id in seen.triples[one]["passages"])
    fill = Fill(
        slot=slot,
        value=value.value,
        given=given,
        clues=[clue.id],
        triples=triples,
        passages=cited or [id for id in shown if id in seen.passages] or stating,
        round=seen.round,
        by="model",
        grounded=bool(triples or stating),
    )
    return fill_id(slot, value.value, given), fill


def _judge(spo: Spo, judged: Judged, seen: Seen, read: Read) -> None:
    """Keep a verdict that names a passage; one in favour, also where a passage states the claim."""
    triples, stating = seen.stating("", spo) if judged.supported else ([], [])
    if passages := seen.cited(judged.numbers) or stating:
        verdict = Verdict(
            verdict="supported" if judged.supported else "contradicted",
            triples=triples,
            passages=passages,
            round=seen.round,
        )
        read.verdicts.setdefault(clue_id(spo), verdict)


def _add_clues(new: Sequence[Fact], seen: Seen, read: Read) -> None:
    """Add clues that the model wrote: to be searched for, or facts that a passage states."""
    taken = {slot for one in seen.board.clues for slot in slots_of(spo_of(one.clue))}
    for fact, spo in zip(new, named([fact.spo for fact in new], taken), strict=True):
        id, stating = clue_id(spo), seen.stating("", spo)[1]
        cited = seen.cited(fact.numbers)
        passages = [one for one in stating if not cited or one in cited]
        if bind(spo, {}).query if slots_of(spo) else passages:
            read.clues[id] = clue_of(spo, "model", seen.round)
        if passages and not slots_of(spo):
            read.verdicts[id] = Verdict(
                verdict="supported", triples=[], passages=passages, round=seen.round
            )
