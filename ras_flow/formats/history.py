"""The subquery-triples history [q_0, g_0, ..., q_i, g_i]; Q of eq. 2 and 8, as text.

Training and inference write it with the same function.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import regex

from ras_flow.errors import InputError
from ras_flow.formats.normalize import name_key, normalize_name
from ras_flow.formats.text import tidy
from ras_flow.formats.tokens import UNSPACED, tokenize
from ras_flow.formats.triples import by_subject, clean_field, format_triple, parse_triples

if TYPE_CHECKING:
    from ras_flow.parts.records import ChainLink

SUBQUERY = "[SUBQ] "
FOUND = "Retrieved Graph Information: "
TEXT = "Retrieved Text: "
QUESTION = "Question: "
NOTHING = "none"
KNOWN = "nothing new"

_MARKER = re.compile(
    "^(?=" + "|".join(map(re.escape, (SUBQUERY, FOUND, TEXT, QUESTION))) + ")", re.MULTILINE
)
_WORD_END = regex.compile(rf"(?<=\S)(?=[ \n]|{UNSPACED.pattern})")
_HANGUL_PAIR = regex.compile(r"\p{Hangul}{2}")


@dataclass(frozen=True)
class History:
    """A formatted history.

    Attributes:
        text: The text.
        lost_triples: How many different triples and passages did not fit into it whole.
    """

    text: str
    lost_triples: int = 0


@dataclass(frozen=True)
class _Piece:
    """One triple or passage as text, the hop it is written in, and how relevant it is.

    With a ``subject``, the text is the rest of a triple.
    """

    text: str
    hop: int
    relevance: int
    is_passage: bool = False
    subject: str = ""


def format_history(
    question: str,
    chain: Sequence[ChainLink],
    *,
    instruction: str = "",
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] | None = None,
    one_line: bool = False,
    grouped: bool = False,
) -> History:
    """Write what planner and answerer read.

    ::

        <instruction>
        [SUBQ] <subquery>
        Retrieved Graph Information: (S> s| P> p| O> o), (S> ...
        Question: <question>

    ``grouped`` writes the triples of one subject as one line. A triple is written once, in the
    first hop that found it; a hop with nothing to write says "none". Passages that are kept as text
    follow, also once, with their line breaks unless ``one_line``, as the Graph LLM is trained::

        Retrieved Text: <title>| <text>

    If the text is too long, triples and passages are left out: those that share the fewest words
    with the question and the subqueries first, among equals those of older hops, then those that
    come later in their hop. One that would not fit even alone goes before all others; the beginning
    of the best such passage fills the room that is left. If the text is too long without any,
    subqueries are left out, oldest first. Instruction and question are always there.
    """
    instruction = _MARKER.sub(" ", instruction.strip())
    head = f"{instruction}\n" if instruction else ""
    tail = QUESTION + question.strip()
    subqueries = [" ".join(link.subquery.split()) for link in chain]
    known = {hop for hop, link in enumerate(chain) if link.known}
    pieces = _pieces(question, subqueries, chain, one_line=one_line, grouped=grouped)

    def write(kept: Sequence[_Piece]) -> str:
        return head + _links(subqueries, kept, known) + tail

    text = write(pieces)
    if max_tokens is None:
        return History(text)
    if count_tokens is None:
        raise InputError("A history with max_tokens needs count_tokens to count with.")
    over = count_tokens(text) - max_tokens
    if over <= 0:
        return History(text)

    def excess(kept: Sequence[_Piece]) -> int:
        return count_tokens(write(kept)) - max_tokens

    sizes = [count_tokens(f", {piece.text}") for piece in pieces]
    best_first, too_large = _rank(pieces, sizes, excess)
    gone, over = _leave_out(pieces, best_first, sizes, over, excess)
    text = write([piece for i, piece in enumerate(pieces) if i not in gone])
    cut = next((i for i in best_first if i in too_large and pieces[i].is_passage), None)
    if over <= 0 and cut is not None:
        title, _, body = pieces[cut].text.partition("| ")

        def write_with(beginning: str) -> str:
            short = {cut: replace(pieces[cut], text=f"{title}| {beginning}")}
            kept = (i for i in range(len(pieces)) if i == cut or i not in gone)
            return write([short.get(i, pieces[i]) for i in kept])

        beginning = shorten(body, max_tokens, lambda text: count_tokens(write_with(text)))
        text = write_with(beginning) if beginning else text
    while over > 0 and subqueries:
        subqueries = subqueries[1:]
        text = write([])
        over = count_tokens(text) - max_tokens
    if over > 0:
        raise InputError(
            f"Question and instruction alone take {max_tokens + over} tokens, but only "
            f"{max(max_tokens, 0)} fit. Shorten them, or use a model with a larger window."
        )
    return History(text, len(gone))


def _rank(
    pieces: Sequence[_Piece], sizes: Sequence[int], excess: Callable[[Sequence[_Piece]], int]
) -> tuple[list[int], set[int]]:
    """Return the positions of pieces, best first, and which would not fit even alone: the last."""
    room = -excess([])
    too_large = {i for i, piece in enumerate(pieces) if 0 < room < sizes[i] and excess([piece]) > 0}
    best_first = sorted(
        range(len(pieces)),
        key=lambda i: (i in too_large, -pieces[i].relevance, -pieces[i].hop, i),
    )
    return best_first, too_large


def _leave_out(
    pieces: Sequence[_Piece],
    best_first: Sequence[int],
    sizes: Sequence[int],
    over: int,
    excess: Callable[[Sequence[_Piece]], int],
) -> tuple[set[int], int]:
    """Return the worst pieces, as many as are too many, and how much is too long without them."""
    left = list(best_first)
    gone: set[int] = set()
    while over > 0 and left:
        # Sizes are near enough to count only now and then.
        while over > 0 and left:
            worst = left.pop()
            gone.add(worst)
            over -= max(sizes[worst], 1)
        over = excess([piece for i, piece in enumerate(pieces) if i not in gone])
    return gone, over


def shorten(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> str:
    """Cut a text that is too long at the end of a word."""
    ends = [match.start() for match in _WORD_END.finditer(text)]
    fitting = bisect(ends, max_tokens, key=lambda end: count_tokens(text[:end]))
    return text[: ends[fitting - 1]] if fitting else ""


def _pieces(
    question: str,
    subqueries: Sequence[str],
    chain: Sequence[ChainLink],
    *,
    one_line: bool,
    grouped: bool,
) -> list[_Piece]:
    """Format each different triple and passage once and rate it."""
    wanted = _content_words([question, *subqueries])
    pieces: dict[tuple[str, ...], _Piece] = {}
    for hop, link in enumerate(chain):
        for triple in link.triples:
            fields = (triple["subject"], triple["predicate"], triple["object"])
            parts = tuple(map(clean_field, fields))
            key = tuple(map(name_key, parts))
            if key not in pieces:
                relevance = len(wanted & _content_words(key))
                text = f"{parts[1]} | {parts[2]}" if grouped else format_triple(*fields)
                subject = parts[0] if grouped else ""
                pieces[key] = _Piece(text, hop, relevance, subject=subject)
        for passage in link.passages:
            title, body = " ".join(passage["title"].split()), tidy(passage["text"])
            body = " ".join(body.split()) if one_line else _MARKER.sub(" ", body)
            relevance = len(wanted & _content_words([title, body]))
            line = f"{TEXT}{title.replace('|', '/')}| {body}"
            pieces.setdefault((passage["id"],), _Piece(line, hop, relevance, is_passage=True))
    return list(pieces.values())


def _content_words(texts: Collection[str]) -> set[str]:
    """Return the normalised words that are numbers or longer than "of", "is" and "in".

    Of Korean words, whose endings vary, and scripts without spaces, also pairs of neighbours.
    """
    words = {word for text in texts for word in normalize_name(text).split()}
    wanted = {word for word in words if len(word) > 2 or word.isdecimal()}
    for word in words:
        if UNSPACED.search(word):
            wanted.update(term for term in tokenize(word) if len(term) > 1 or term.isdecimal())
        wanted.update(_HANGUL_PAIR.findall(word, overlapped=True))
    return wanted


def _links(subqueries: Sequence[str], pieces: Sequence[_Piece], known: Collection[int]) -> str:
    lines = []
    for hop, subquery in enumerate(subqueries):
        here = [piece for piece in pieces if piece.hop == hop]
        facts = [piece for piece in here if not piece.is_passage]
        found = ", ".join(piece.text for piece in facts if not piece.subject)
        found += "\n".join(by_subject((it.subject, it.text) for it in facts if it.subject))
        texts = "".join(f"{piece.text}\n" for piece in here if piece.is_passage)
        none = KNOWN if hop in known else NOTHING
        triples = f"{FOUND}{found or none}\n" if found or not texts else ""
        lines.append(f"{SUBQUERY}{subquery}\n{triples}{texts}")
    return "".join(lines)


def regroup(history: str) -> str:
    """Write the triples of a history with one line a subject."""
    lines = history.split("\n")
    for at, line in enumerate(lines):
        if line.startswith(FOUND):
            triples = parse_triples(line.removeprefix(FOUND)).triples
            grouped = by_subject((s, f"{p} | {o}") for s, p, o in triples)
            lines[at] = FOUND + "\n".join(grouped)
    return "\n".join(lines)
