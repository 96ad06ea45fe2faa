"""What a resolver's reply comes to: fills with their evidence, verdicts, new clues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ras_flow.formats.hop_reply import Fact
from ras_flow.formats.normalize import has_name
from ras_flow.formats.stated import is_stated
from ras_flow.formats.triples import Spo
from ras_flow.state.kg import spo_of
from ras_flow.state.schema import Passage, Triple
from ras_flow.t2rag.board import Board, Standing
from ras_flow.t2rag.clues import bind, clue_id, fill_id, is_value, match, named, slots_of
from ras_flow.t2rag.formats.decomposition import MOST_CLUES
from ras_flow.t2rag.formats.resolution import Resolution, Value
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
            return has_name(f"{title} | {text}", value) and is_stated(spo, title, text)

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
    values: list[tuple[Standing, Value]] = []
    for one in reply.values:
        if (clue := _meant(one, seen.asked)) is not None:
            slot = one.slot or clue.form.open[0]
            values.append((clue, Value(one.clue, slot, one.value, one.numbers)))
    new: list[Fact] = []
    for fact in reply.triples:
        matched = _matched(fact, seen, read)
        if matched is None:
            new.append(fact)
        else:
            values += matched
    _fill(values, seen, read, alternatives)
    for judged in reply.verdicts:
        if 0 < judged.clue <= len(seen.asked) and not seen.asked[judged.clue - 1].form.blanks:
            _judge(seen.asked[judged.clue - 1], judged.supported, judged.numbers, seen, read)
    _add_clues(new[: max(0, min(MOST_NEW, MOST_CLUES - len(seen.board.clues)))], seen, read)
    return read


def _meant(value: Value, asked: Sequence[Standing]) -> Standing | None:
    """Return the clue whose slot a value fills: the one that is named, else one with that slot."""
    named = asked[value.clue - 1 : value.clue] if value.clue else []
    for one in [*named, *asked] if value.slot else named:
        if value.slot in one.form.open or (not value.slot and len(one.form.open) == 1):
            return one if is_value(value.value, one.form.open) else None
    return None


def _matched(fact: Fact, seen: Seen, read: Read) -> list[tuple[Standing, Value]] | None:
    """Read a clue that was written out as values of the one it repeats; None for a new clue."""
    repeated = any(match(one.form, fact.spo) is not None for one in seen.board.known)
    for number, one in enumerate(seen.asked, 1):
        values = match(one.form, fact.spo)
        if values:
            return [
                (one, Value(number, slot, value, fact.numbers)) for slot, value in values.items()
            ]
        if values is not None:
            repeated = True
            if not one.form.blanks:
                _judge(one, True, fact.numbers, seen, read)
    return [] if repeated else None


def _fill(
    values: Sequence[tuple[Standing, Value]], seen: Seen, read: Read, alternatives: int
) -> None:
    """Make fills, those first that what others of the reply fill does not depend on."""
    chosen = dict(seen.board.chosen)
    texts = dict(seen.board.values)
    waiting = list(values)
    while waiting:
        told = {value.slot for _, value in waiting}
        ready = [
            pair
            for pair in waiting
            if not told.intersection(pair[0].form.open).difference(chosen, {pair[1].slot})
        ] or waiting
        waiting = [pair for pair in waiting if pair not in ready]
        for clue, value in ready:
            given = {
                slot: chosen[slot]
                for slot in slots_of(spo_of(clue.clue))
                if slot in chosen and slot != value.slot
            }
            id, fill = _evidence(clue, value, given, texts, seen)
            known = [one for one in read.fills.values() if one["slot"] == value.slot]
            if id in read.fills:
                read.fills[id] = united(read.fills[id], fill)
            elif len(known) < alternatives:
                read.fills[id] = fill
        for _, value in ready:
            if value.slot not in chosen:
                first = next(
                    (id for id, one in read.fills.items() if one["slot"] == value.slot), None
                )
                if first is not None:
                    chosen[value.slot] = first
                    texts[value.slot] = read.fills[first]["value"]


def _evidence(
    clue: Standing, value: Value, given: dict[str, str], texts: Mapping[str, str], seen: Seen
) -> tuple[str, Fill]:
    """Find what of the round states a value, if anything does."""
    spo = bind(spo_of(clue.clue), {**texts, value.slot: value.value}).spo
    subject, predicate, object = ("" if slots_of((part, "", "")) else part for part in spo)
    triples, stating = seen.stating(value.value, (subject, predicate, object))
    cited = [id for id in seen.cited(value.numbers) if id in stating]
    shown = [id for one in triples for id in seen.triples[one]["passages"]]
    fill = Fill(
        slot=value.slot,
        value=value.value,
        given=given,
        clues=[clue.id],
        triples=triples,
        passages=cited or [id for id in dict.fromkeys(shown) if id in seen.passages] or stating,
        round=seen.round,
        by="model",
        grounded=bool(triples or stating),
    )
    return fill_id(value.slot, value.value, given), fill


def _judge(
    claim: Standing, supported: bool, numbers: Iterable[int], seen: Seen, read: Read
) -> None:
    """Keep a verdict that names a passage; one in favour, also where a passage states the claim."""
    spo = claim.form.spo
    passages = seen.cited(numbers)
    if supported and not passages:
        texts = seen.passages.items()
        passages = [id for id, one in texts if is_stated(spo, one["title"], one["text"])]
    if not passages:
        return
    triples = [id for id, one in seen.triples.items() if is_stated(spo, "", " ".join(spo_of(one)))]
    read.verdicts.setdefault(
        clue_id(spo),
        Verdict(
            verdict="supported" if supported else "contradicted",
            triples=triples if supported else [],
            passages=passages,
            round=seen.round,
        ),
    )


def _add_clues(new: Sequence[Fact], seen: Seen, read: Read) -> None:
    """Add clues that the model wrote: to be searched for, or facts that a passage states."""
    taken = {slot for one in seen.board.clues for slot in slots_of(spo_of(one.clue))}
    for fact, spo in zip(new, named([fact.spo for fact in new], taken), strict=True):
        clue = clue_of(spo, "model", seen.round)
        if slots_of(spo):
            if bind(spo, {}).query:
                read.clues[clue_id(spo)] = clue
            continue
        passages = [
            id
            for id in seen.cited(fact.numbers) or seen.passages
            if is_stated(spo, seen.passages[id]["title"], seen.passages[id]["text"])
        ]
        if passages:
            read.clues[clue_id(spo)] = clue
            read.verdicts[clue_id(spo)] = Verdict(
                verdict="supported", triples=[], passages=passages, round=seen.round
            )
