"""Which triples an answer rests on: attribution by names and paths, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from string import ascii_lowercase

import regex

from ras_flow.formats.normalize import has_words, name_key, name_words, normalize_name
from ras_flow.formats.sentences import Span
from ras_flow.formats.tokens import UNSPACED, tokenize
from ras_flow.state.evidence import find_evidence
from ras_flow.state.kg import QueryKG
from ras_flow.state.schema import Citation, Passage, Triple

MAX_CITATIONS = 8
MAX_VERDICT_CITATIONS = 5

_VERDICTS = frozenset({"yes", "no", "true", "false"})
_YES_OR_NO = (
    "yes no true false ja nein nee oui non sí sì sim não tak nie да нет evet hayır نعم لا "
    "是 是的 不是 否 对 不对 はい いいえ 예 네 아니요"
).replace(" ", "|")
_IS_VERDICT = re.compile(
    rf"[\W_]*(?:(?:{_YES_OR_NO})(?:[,.;:!،，。、；：！]|[\W_]*$)|[a-z](?:[):]\s|[\W_]*$))",
    re.IGNORECASE,
)
_APOSTROPHE = re.compile(r"['’](?:s\b)?", re.IGNORECASE)
"""What parts a name from what is written with it: "Clara's", "l'Italie", "Ankara'da"."""
_HANGUL_END = regex.compile(r"\p{Hangul}\Z")


def cite(
    answer: str, question: str, triples: Mapping[str, Triple], passages: Mapping[str, Passage]
) -> list[Citation]:
    """Name the triples that support an answer. Deterministic.

    An entity is named by the answer if it equals the answer; failing that, if one contains the
    other as whole words of three or more letters or digits; where a script has no spaces between
    words, as two or more characters, and in Korean also before an ending. An entity is named by the
    question if the question contains it so. Common nouns ("river") count only where no name with a
    capital, a digit or a letter of a script without capitals is found, and never for an answer that
    has one ("River Aach").

    * For an answer that names entities: first, for each of them, the shortest path from an entity
      of the question, then the other triples at these entities, those that share the most words
      with the question first. Entities that the question names too count only if no other is
      named.
    * For a verdict ("yes", "no", "true", "false", or another language's yes or no) or an option's
      letter that names none: the triples at entities of the question, again by shared words, at
      most 5.
    """
    kg = QueryKG.from_triples(triples)
    paths = paths_to_answer(answer, question, kg)
    if paths:
        chosen = [id for path in paths.values() for id in path]
        chosen += _by_relevance(_triples_at(paths, kg), question, kg)
        limit = MAX_CITATIONS
    elif _IS_VERDICT.match(answer):
        chosen = _by_relevance(_triples_at(_mentioned(question, kg), kg), question, kg)
        limit = MAX_VERDICT_CITATIONS
    else:
        return []
    cited = list(dict.fromkeys(chosen))[:limit]
    return cite_facts({id: kg.triples[id] for id in cited}, passages)


def cite_facts(triples: Mapping[str, Triple], passages: Mapping[str, Passage]) -> list[Citation]:
    """Make citations of facts, with the sentences that state them."""
    sentences = find_evidence(triples, passages)
    return [
        _cite_fact(id, triple, sentences.get(id, {}), passages) for id, triple in triples.items()
    ]


def _cite_fact(
    id: str, triple: Triple, spans: Mapping[str, Span], passages: Mapping[str, Passage]
) -> Citation:
    known = sorted(triple["passages"], key=lambda passage: passage not in spans)
    first = passages.get(known[0]) if known else None
    span = spans.get(known[0]) if known else None
    return Citation(
        triple=id,
        passages=known,
        subject=triple["subject"],
        predicate=triple["predicate"],
        object=triple["object"],
        title=first["title"] if first else "",
        source=first.get("source", "") if first else "",
        sentence=first["text"][slice(*span)] if first and span else "",
    )


def cite_passage(passage: Passage, sentence: str = "") -> Citation:
    """Make a citation of a passage as text."""
    return Citation(
        triple="",
        passages=[passage["id"]],
        subject="",
        predicate="",
        object="",
        title=passage["title"],
        source=passage.get("source", ""),
        sentence=sentence,
    )


def cite_passages(answer: str, question: str, passages: Mapping[str, Passage]) -> list[Citation]:
    """Name the passages that support an answer, where they were kept as text. Deterministic.

    A passage supports an answer if it contains the answer as :func:`cite` has it, or if the answer
    contains its title so; for a verdict or an option's letter, if it shares words with the
    question.
    """
    words = normalize_name(answer)
    verdict = _IS_VERDICT.match(answer) is not None
    asked = {word for word in tokenize(question) if len(word) > 1 + word.isascii()}
    shared: dict[str, int] = {}
    for id, passage in passages.items():
        text = f"{passage['title']} {passage['text']}"
        shares = len(asked.intersection(tokenize(text)))
        title = normalize_name(passage["title"])
        if shares if verdict else _contains(_searchable(text), words) or _contains(words, title):
            shared[id] = shares
    best = sorted(shared, key=lambda id: -shared[id])
    limit = MAX_VERDICT_CITATIONS if verdict else MAX_CITATIONS
    return [cite_passage(passages[id]) for id in best[:limit]]


def paths_to_answer(answer: str, question: str, kg: QueryKG) -> dict[str, list[str]]:
    """Find the entities that an answer names, and how the question leads to them."""
    mentioned = _mentioned(question, kg)
    named = _named(answer, kg)
    targets = [name for name in named if name not in mentioned] or named
    paths = kg.paths(mentioned, targets)
    return {target: paths.get(target, []) for target in targets}


def _named(answer: str, kg: QueryKG) -> list[str]:
    """Return the entities that the answer names."""
    words = normalize_name(answer)
    if words in _VERDICTS or (len(words) == 1 and words in ascii_lowercase):
        return []
    if (key := name_key(answer)) in kg.entities:
        return [key]
    names = {entity: normalize_name(entity) for entity in kg.entities}
    if alike := [entity for entity, name in names.items() if name == words]:
        return alike
    text = _searchable(answer)
    found = _as_spelled(
        [e for e, name in names.items() if _contains(text, name) or _contains(name, words)], answer
    )
    if _is_proper(answer):
        # "River Aach" names that river, and not rivers.
        return [name for name in found if _is_proper(kg.entities[name])]
    return _proper(found, kg)


def _mentioned(question: str, kg: QueryKG) -> list[str]:
    """Return the entities that the question names."""
    text = _searchable(question)
    found = [entity for entity in kg.entities if _contains(text, normalize_name(entity))]
    return _proper(_as_spelled(found, question), kg)


def _as_spelled(entities: list[str], text: str) -> list[str]:
    """Of entities with names alike, as "25 MW" and "25 mW", keep those that a text spells so."""
    key = name_key(text)
    spelled = {entity for entity in entities if has_words(key, entity)}
    said = set(map(normalize_name, spelled))
    return [e for e in entities if e in spelled or normalize_name(e) not in said]


def _proper(names: list[str], kg: QueryKG) -> list[str]:
    """Keep proper names and numbers; common nouns only if there is nothing else."""
    return [name for name in names if _is_proper(kg.entities[name])] or names


def _is_proper(text: str) -> bool:
    return any((c.isalpha() or c.isdecimal()) and not c.islower() for c in text)


def _searchable(text: str) -> str:
    """Return a text's normalised words, with what an apostrophe joins and parted from it."""
    words, parted = normalize_name(text), _APOSTROPHE.sub(" ", text)
    return words if parted == text else f"{words} | {normalize_name(parted)}"


def _contains(text: str, name: str) -> bool:
    """Tell whether normalised words contain a name that is long enough to mean something."""
    if len(name) > len(text):  # A long answer would be looked through once for each entity.
        return False
    least = 2 if UNSPACED.search(name) or _HANGUL_END.search(name) else 3
    return len(name) >= least and name not in _VERDICTS and has_words(text, name)


def _triples_at(entities: Iterable[str], kg: QueryKG) -> list[str]:
    return [id for name in entities for id in kg.incident[name]]


def _by_relevance(ids: Iterable[str], question: str, kg: QueryKG) -> list[str]:
    """Sort triples by the number of words that they share with the question."""
    asked = set(name_words(_searchable(question)))

    def shared(id: str) -> int:
        triple = kg.triples[id]
        parts = (triple["subject"], triple["predicate"], triple["object"])
        return len({word for part in parts for word in name_words(part)} & asked)

    return sorted(ids, key=lambda id: -shared(id))
