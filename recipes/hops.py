"""A model of the one-call loop that knows the gold facts: it replies as the trained one should.

It notes the facts by which a question's steps are found out, as the new passages state them, asks
for what nothing shown tells yet, and answers as soon as all is told. What its notes hold it reads
from the prompt, as a model would. Where nothing is left to ask, or no search is left, it says what
comes nearest: the gold answer, whatever was found, so that guesses are learnt too.

Where a trained model's own replies are followed, the teacher says at each state that they lead to
what would have been right (DAgger, Ross et al. 2011), as :mod:`recipes.graph_llm.student` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ras_flow.formats.hop_reply import parse_hop_reply
from ras_flow.formats.hop_view import LAST
from ras_flow.formats.normalize import has_name, normalize_name
from ras_flow.formats.stated import is_stated
from ras_flow.formats.triples import Spo, clean_field
from recipes.graph_llm.agenda import Agenda
from recipes.graph_llm.case import Case, Step
from recipes.graph_llm.sources.texts import mentions, shared_words
from recipes.triples.support import supported

MOST_FACTS = 2
"""Facts that are noted for a step."""

MOST_SUBQUERIES = 2

_PASSAGE = re.compile(r"(\d+) (\[(.*?)\] .*)")
_CITED = re.compile(r"\[([\d, ]+)\]")


class _Passage(NamedTuple):
    """A passage as it is shown; its text begins with its title."""

    number: int
    title: str
    text: str


class HopTeacher:
    """Reads the hops of one run on one case."""

    def __init__(self, case: Case) -> None:
        self._case, self._agenda = case, Agenda(case)
        self._agenda.ask(case.question, None)
        self._told: dict[int, int] = {}
        """The steps that were told so far, and the passages that told them."""

    def reply(self, shown: str) -> str:
        """Note the facts of the new passages, and write the next step.

        Its searches count as made once :meth:`follow` is told so.
        """
        passages, notes = _read(shown)
        lines = []
        for at, step in enumerate(self._case.steps):
            if at in self._told:
                continue
            telling = [one for one in passages if is_told(step, one.text)]
            # Another page may tell it too, in passing.
            telling.sort(key=lambda one: one.title != step.page.title)
            for one in telling[:1]:
                self._told[at] = one.number
                facts = self._facts(step, one)
                lines += [f"{' | '.join(map(clean_field, fact))} [{one.number}]" for fact in facts]
            for number, note in notes:
                if is_told(step, note):
                    self._told.setdefault(at, number)
        lines += self._step(passages, last=LAST in shown)
        return "\n".join(dict.fromkeys(lines))

    def follow(self, said: str, own: str | None = None) -> str:
        """Return the reply that the run goes on with: ``said``, or a trained model's own.

        That one is followed where it searches for something new, or where nothing else is to be
        done. Elsewhere the run would end too early.
        """
        step = parse_hop_reply(own or "", self._agenda.was_asked)
        if own and (step.label == "SUBQ" or (step.label and "[SUBQ]" not in said)):
            said = own
        for subquery in parse_hop_reply(said).subqueries:
            self._agenda.ask(subquery, None)
        return said

    def _step(self, passages: Sequence[_Passage], *, last: bool) -> list[str]:
        answer = self._case.answer
        untold = [at for at in range(len(self._case.steps)) if at not in self._told]
        asked = [] if last else self._ask(untold)
        if asked:
            return asked
        numbers = sorted(set(self._told.values()))
        if untold:
            naming = [one.number for one in passages if has_name(one.text, answer)]
            if not naming:
                return [f"[NOT FOUND] {answer}"]
            numbers = list(dict.fromkeys([*numbers, *naming]))
        return [f"[ANSWER] {answer}{f' {numbers}' if numbers else ''}"]

    def _ask(self, untold: Sequence[int]) -> list[str]:
        """Return the subqueries of the first steps that can be put into words by now."""
        asked = []
        for at in self._agenda.askable(untold)[:MOST_SUBQUERIES]:
            target, _ = self._agenda.next([at])
            if target is not None and target["label"] == "SUBQ":
                asked.append(f"[SUBQ] {target['subquery']}")
        return asked

    def _facts(self, step: Step, passage: _Passage) -> list[Spo]:
        """Return the facts of a step that a passage states, those that lead on first."""
        named = [fact for fact in step.short if normalize_name(fact[1])]
        wanted = [fact[2] for fact in step.short] or [self._case.answer]
        facts = named or step.facts
        telling = [fact for fact in facts if any(mentions(" ".join(fact), one) for one in wanted)]
        stated = [fact for fact in telling or facts if is_stated(fact, passage.title, passage.text)]
        others = (one.page.title for one in self._case.steps if one is not step)
        asked = " ".join([self._case.question, *others])
        stated.sort(key=lambda fact: -shared_words(fact, self._case.answer, asked))
        return stated[:MOST_FACTS]


def is_told(step: Step, *texts: str) -> bool:
    """Tell whether, of each of a step's facts, one of the texts has the words of both ends."""
    return not step.missing and all(
        any(supported(subject, text) == supported(object, text) == 1 for text in texts)
        for subject, _, object in step.short or step.facts
    )


def _read(shown: str) -> tuple[list[_Passage], list[tuple[int, str]]]:
    """Return the passages that are shown, and the notes, each with its first passage's number.

    See :func:`ras_flow.formats.hop_view.format_hop`, which writes them.
    """
    passages: list[_Passage] = []
    notes: list[tuple[int, str]] = []
    for line in shown.splitlines():
        if found := _PASSAGE.match(line):
            passages.append(_Passage(int(found[1]), found[3], found[2]))
        elif line.startswith("  ") and passages:
            passages[-1] = passages[-1]._replace(text=f"{passages[-1].text} {line.strip()}")
        elif " | " in line:
            subject, _, rest = line.partition(" | ")
            for said in rest.split("; "):
                if cited := _CITED.search(said):
                    notes.append((int(cited[1].split(",")[0]), f"{subject} {said}"))
    return passages, notes
