"""Whether the documents support an answer, judged by what was found, without a model.

A chain of facts and sentences leads from the answer back to what the question names. Its score is
the share of the question's words that it covers: names and numbers count double, words that many
passages have count little, and each further link costs something. An answer of several parts is
worth as much as its weakest part; a yes, a no or one of the things compared as much as the side of
which least was found.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from textwrap import shorten
from typing import NamedTuple

import regex

from ras_flow.formats.answer import UNKNOWN_ANSWER, says_unknown
from ras_flow.formats.sentences import sentence_spans
from ras_flow.formats.text import has_word
from ras_flow.state.asking import Question
from ras_flow.state.chains import MISFIT, Asked, Chains, Measured, weakest
from ras_flow.state.comparing import compare
from ras_flow.state.evidence import Evidence, Reader, Unit, stem, with_stems
from ras_flow.state.names import content_words, longest
from ras_flow.state.schema import Citation, Passage, Triple

SUPPORTED = 0.45
"""From this score on the documents support an answer."""

UNKNOWN = 0.2
"""Below this score a run says that the documents do not say, where it may."""

VERIFIED = 0.5
"""Share of an answer's words that the facts and passages state which the model itself cites."""

MAX_CITATIONS = 8

NOT_FOUND = "The model found no answer in the documents."
"""Why an answer is not supported that says so itself."""

_BESIDE = 0.6
_BEYOND = 0.3
"""What is left where what states the answer adds nothing: some asked words are open, or none."""

_SHORT = 3
"""Words of an answer all of which must be stated, though none is a name or a number."""

_SHOWN = 80
"""Characters of an answer that a reason quotes."""

_LONGEST = 40
"""Words without an end of a sentence at most: beyond, a table or a list was copied."""

_ENDS = (".", "!", "?", "。", "！", "？", "।", "؟")

_PART_ENDS = re.compile(r"(?<!\d),|,(?!\d)|[;\n，、；]|\s(?:and|und|et|y|e|и|&)\s")
_NAMES = regex.compile(r"(?:(?:\p{Lu}|\d)\S*(?: (?=\p{Lu}|\d))?)+")
_YES_OR_NO = (
    "yes no true false ja nein nee oui non sí sì sim não tak nie да нет evet hayır نعم لا "
    "是 是的 不是 否 对 不对 はい いいえ 예 네 아니요"
).replace(" ", "|")
_IS_VERDICT = re.compile(
    rf"[\W_]*(?:(?:{_YES_OR_NO})(?:[,.;:!،，。、；：！]|[\W_]*$)|[a-z](?:[):]\s|[\W_]*$))",
    re.IGNORECASE,
)


class Verdict(NamedTuple):
    """What an answer rests on.

    Attributes:
        citations: The facts and passages that lead from the question to the answer.
        supported: Whether they support it.
        support: Why, or why not: a short sentence.
        score: How well, from 0 to 1.
    """

    citations: list[Citation]
    supported: bool
    support: str
    score: float

    @property
    def doubtful(self) -> bool:
        """Whether next to nothing of what was read supports the answer."""
        return self.score < UNKNOWN


def judge(
    answer: str, question: str, triples: Mapping[str, Triple], passages: Mapping[str, Passage]
) -> Verdict:
    """Find what supports an answer in all that a run found."""
    if problem := _problem(answer, triples, passages):
        return Verdict([], False, problem, 0.0)
    evidence = Evidence(triples, passages)
    return _verdict(_measure(answer, Question(question), evidence), evidence, SUPPORTED)


def admit(answer: str, verdict: Verdict, *, told_to: bool) -> tuple[str, Verdict]:
    """Let a run say that the documents do not say, and keep the model's guess in ``support``.

    A model that was ``told_to`` say so decides itself. For one that takes no such instruction its
    score decides.
    """
    unknown = says_unknown(answer)
    if not unknown and (told_to or not verdict.doubtful):
        return answer, verdict
    wrote = f' The model wrote "{answer}".' if answer not in ("", UNKNOWN_ANSWER) else ""
    return UNKNOWN_ANSWER, Verdict([], False, f"{verdict.support}{wrote}", verdict.score)


def verify(
    answer: str,
    question: str,
    triples: Mapping[str, Triple],
    passages: Mapping[str, Passage],
    *,
    cited: Collection[str],
) -> Verdict:
    """Check the facts and passages that a model itself names for its answer.

    For a model that cites by number: turn its numbers into ids of triples and passages, and give
    them as ``cited``, with all triples and passages of the run; triples that a cited passage states
    are cited with it. What it names need not share names to belong together, but has to state the
    answer and to speak of what was asked; what does neither is not cited. Where that fails, as
    where it names nothing, its answer is judged as any other's is, by all that was found.
    """
    own = {id: one for id, one in triples.items() if not {id, *one["passages"]}.isdisjoint(cited)}
    texts = {id: passages[id] for id in cited if id in passages}
    if not _problem(answer, own, texts):
        stated_in = {
            id: passages[id] for t in own.values() for id in t["passages"] if id in passages
        }
        evidence = Evidence(own, {**stated_in, **texts})
        units = [unit for unit in evidence.units if unit.triple or unit.passage in texts]
        verdict = _verdict(
            _measure_own(answer, Question(question), units, evidence), evidence, VERIFIED
        )
        if verdict.supported:
            return verdict
    return judge(answer, question, triples, passages)


def led_by(
    facts: Sequence[str],
    verdict: Verdict,
    triples: Mapping[str, Triple],
    passages: Mapping[str, Passage],
) -> Verdict:
    """Cite the facts that led a run to its answer before what else supports it."""
    reader = Reader(passages)
    led = [reader.cite(id, triples[id]) for id in facts if id in triples]
    others = [one for one in verdict.citations if one["triple"] not in facts]
    return verdict._replace(citations=[*led, *others][:MAX_CITATIONS])


class _Part(NamedTuple):
    """A part of an answer: its names, the words that must be stated, and others, half of which."""

    text: str
    names: frozenset[str]
    must: frozenset[str]
    others: Collection[str]

    def stating(self, units: Iterable[Unit]) -> list[Unit]:
        """Return the units that state it, those that have the most of its words."""
        held = {unit: self._held(unit) for unit in units if self.must <= unit.said}
        most = max(held.values(), default=0)
        return [unit for unit, count in held.items() if count == most] if self._enough(most) else []

    def _held(self, unit: Unit) -> int:
        return sum(stem(word) in unit.said for word in self.others)

    def _enough(self, held: int) -> bool:
        return (len(self.must) + held) * 2 >= len(self.must) + len(self.others) > 0


def _measure(answer: str, question: Question, evidence: Evidence) -> Measured:
    """Measure how well all that was found supports an answer."""
    asked, answered = question.words, content_words(answer)
    echoes = answered.keys() <= asked.keys()
    if _IS_VERDICT.match(answer) or (echoes and question.chooses):
        return compare(question, answer, evidence)
    if echoes:
        return Measured(0.0, why="The answer only repeats the question.")
    rest = {word: asked[word] for word in asked.keys() - answered.keys()}
    wanted = Asked(rest, evidence, relations=question.relations, english=question.english)
    named = longest(evidence.names.within(question.text))
    chains = Chains(evidence, named - evidence.names.within(answer))
    found = []
    for part in _parts(answer, asked, evidence.units):
        stating = part.stating(evidence.units)
        if empty := _empty_cell(asked, stating, evidence):
            return Measured(0.0, why=empty)
        chain = chains.pruned(chains.best(stating, wanted), wanted)
        score = wanted.score(chain)
        said = shorten(part.text, _SHOWN, placeholder="…")
        missed = ", ".join(wanted.missed(chain)[:3])
        why = f'What states "{said}" does not speak of: {missed}.'
        if not chain:
            why = f'No fact or sentence that was found states "{said}".'
        elif wanted.passes(part.names, chain):
            if score >= SUPPORTED:
                why = f'"{said}" only stands beside what is asked for.'
            score *= _BESIDE if wanted.missed(chain[1:]) else _BEYOND
        found.append(Measured(score, chain[::-1], why))
    measured = weakest(found)
    if misfit := question.misfit(answer):
        return measured._replace(score=measured.score * MISFIT, why=misfit)
    return measured


def _empty_cell(asked: Collection[str], stating: Iterable[Unit], evidence: Evidence) -> str:
    """Name the empty cell that the question asks for, unless another place fills it."""
    wanted = with_stems(asked)
    for passage, subject, name in evidence.empty:
        words = with_stems(content_words(f"{subject} {name}"))
        filled = (unit.passage != passage and words <= unit.said for unit in stating)
        if words <= wanted and not any(filled):
            return f'The documents leave "{name}" of "{subject}" empty.'
    return ""


def _measure_own(
    answer: str, question: Question, units: Sequence[Unit], evidence: Evidence
) -> Measured:
    """Measure how much of an answer, and of what was asked, a model's own citations state.

    A verdict or one of the things compared states nothing by itself: the question's words count.
    """
    asked, answered = question.words, content_words(answer)
    told = {word: answered[word] for word in answered.keys() - asked.keys()}
    if _IS_VERDICT.match(answer) or not told:
        told = {word: asked[word] for word in asked.keys() - answered.keys()} or asked
    speaks = any(word in unit.said for unit in units for word in asked)
    if not told or not speaks:
        return Measured(0.0)
    chosen: list[Unit] = []
    left = {word for word in told if any(_says(unit, word) for unit in units)}
    score = len(left) / len(told)
    while left:
        best = max(units, key=lambda unit: (sum(_says(unit, word) for word in left), unit.triple))
        chosen.append(best)
        left = {word for word in left if not _says(best, word)}
    wanted = Asked(asked, evidence, relations=question.relations, english=question.english)
    while more := max(units, key=lambda unit: wanted.covered([*chosen, unit]), default=None):
        if wanted.covered([*chosen, more]) <= wanted.covered(chosen):
            break
        chosen.append(more)
    return Measured(score, chosen[::-1])


def _says(unit: Unit, word: str) -> bool:
    return word in unit.said or stem(word) in unit.said


def _parts(answer: str, asked: Mapping[str, bool], units: Sequence[Unit]) -> list[_Part]:
    """Return what of an answer has to be stated: all of it at once, or else each of its parts."""
    whole = _part(answer)
    if whole.stating(units):
        return [whole]
    pieces = [
        _part(piece)
        for start, end in sentence_spans(answer)
        for piece in _PART_ENDS.split(answer[start:end])
        if has_word(piece)
    ]
    pieces = [one for part in pieces for one in _names_of(part, units)]
    telling = [part for part in pieces if part.names - asked.keys()]
    return telling or [part for part in pieces if {*part.must, *part.others} - asked.keys()]


def _names_of(part: _Part, units: Sequence[Unit]) -> list[_Part]:
    """Return a part as it is, or its names, where it joins what several units state."""
    names = [] if part.stating(units) else [_part(name) for name in _NAMES.findall(part.text)]
    return names if len(names) > 1 else [part]


def _part(text: str) -> _Part:
    words = content_words(text)
    names = frozenset(word for word, named in words.items() if named)
    must = names or frozenset(words if len(words) <= _SHORT else ())
    return _Part(text.strip(" ."), names, must, words.keys() - must)


def _problem(answer: str, triples: Collection[str], passages: Collection[str]) -> str:
    """Say why an answer need not be looked for; empty if it has to be."""
    if not has_word(answer):
        return "There is no answer."
    if says_unknown(answer):
        return NOT_FOUND
    if not triples and not passages:
        return "No document was read: the answer is what the model knows by itself."
    spoken = (answer[start:end] for start, end in sentence_spans(answer))
    rows = (text for text in spoken if not text.endswith(_ENDS))
    if any(len(text.split()) > _LONGEST for text in rows) or answer.count("|") > 1:
        return "It copies a table or a list in place of an answer."
    return ""


def _cited(units: Sequence[Unit], evidence: Evidence) -> list[Unit]:
    """Return what is cited of a chain: no sentence beside the fact that it states."""
    facts = [unit for unit in units if unit.triple]
    return [
        unit
        for unit in dict.fromkeys(units)
        if unit.triple or not any(evidence.states(unit, fact) for fact in facts)
    ]


def _verdict(measured: Measured, evidence: Evidence, threshold: float) -> Verdict:
    supported = measured.score >= threshold
    cited = _cited(measured.units, evidence)[:MAX_CITATIONS]
    why = "What is cited leads from the question to the answer."
    if not supported:
        why = measured.why or "Too little of what was found speaks of the question."
    citations = [evidence.cite(unit) for unit in cited]
    return Verdict(citations, supported, why, round(measured.score, 3))
