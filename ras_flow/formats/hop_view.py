"""What a model reads of a run before it replies in one call: notes of earlier hops, new passages.

Each call's text begins with the last one's as far as that can be had, so that the prefix caches of
providers and servers work: what was shown once is shown the same way later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ras_flow.errors import InputError
from ras_flow.formats.history import QUESTION, History, shorten
from ras_flow.formats.triples import by_subject, clean_field

if TYPE_CHECKING:
    from ras_flow.parts.records import HopRequest, SearchSeen
    from ras_flow.state.schema import Passage

SEARCH = "Search: "
AGAIN = "Passages of earlier searches again:\n"
LAST = "No further search can be made: write [ANSWER], or [NOT FOUND]."
NOTHING = "(nothing found)\n"
KNOWN = "(only passages that were shown before)\n"
UNNOTED = "(nothing noted)\n"


def format_hop(
    request: HopRequest,
    *,
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] | None = None,
) -> History:
    """Write what is read before a reply.

    ::

        Question: <question>
        <subject> | <predicate> | <object> [1]; <predicate> | <object> [2]
        Search: <subquery>
        4 [<title>] <text>

    The search for the question itself is not written. If that is too long, first passages of
    earlier searches are left out, then facts of the oldest, and last the new passages are
    shortened.
    """
    text = _write(request)
    if max_tokens is None or count_tokens is None or count_tokens(text) <= max_tokens:
        return History(text)
    whole = len(_pieces_of(request))
    for smaller in _smaller(request, max_tokens):
        text = _write(smaller)
        if count_tokens(text) <= max_tokens:
            left = _pieces_of(smaller)
            return History(text, whole - len(left & _pieces_of(request)))
    raise InputError(
        f"The question alone takes {count_tokens(text)} tokens, but only "
        f"{max(max_tokens, 0)} fit. Shorten it, or use a model with a larger window."
    )


def new_passages(request: HopRequest) -> dict[int, Passage]:
    """Return the passages that the last search newly found."""
    return dict((request.searches[-1].shown if request.searches else None) or {})


def with_new(request: HopRequest, shown: Mapping[int, Passage]) -> HopRequest:
    """Return the request with other new passages."""
    *earlier, last = request.searches
    return replace(request, searches=[*earlier, replace(last, shown=shown)])


def _smaller(request: HopRequest, max_tokens: int) -> Iterator[HopRequest]:
    """Yield requests from which more and more is left out."""
    while request.again:
        request = replace(request, again=dict(list(request.again.items())[:-1]))
        yield request
    searches = list(request.searches)
    for emptied in ({"shown": None}, {"facts": ()}):
        for at in range(len(searches) - ("shown" in emptied)):
            searches[at] = replace(searches[at], **emptied)
            request = replace(request, searches=list(searches))
            yield request
    most = max_tokens
    while most and new_passages(request):
        yield with_new(
            request,
            {
                number: {**passage, "text": shorten(passage["text"], most, len)}
                for number, passage in new_passages(request).items()
            },
        )
        most //= 2
    if request.searches:
        yield replace(request, searches=[])


def _pieces_of(request: HopRequest) -> set[tuple[str, ...]]:
    """Return the facts and passages that are shown."""
    pieces: set[tuple[str, ...]] = {(one["id"], one["text"]) for one in request.again.values()}
    for search in request.searches:
        pieces.update((fact["subject"], fact["predicate"], fact["object"]) for fact in search.facts)
        pieces.update((one["id"], one["text"]) for one in (search.shown or {}).values())
    return pieces


def _write(request: HopRequest) -> str:
    question = " ".join(request.question.split())
    parts = [f"{QUESTION}{question}\n"]
    parts += [_search(search, question, request.numbers) for search in request.searches]
    if request.again:
        parts += [AGAIN, *_texts(request.again)]
    if request.last:
        parts.append(f"{LAST}\n")
    if request.problem:
        parts.append(f"Your last reply could not be used: {request.problem} Reply again.\n")
    return "".join(parts).rstrip("\n")


def _search(search: SearchSeen, question: str, numbers: Mapping[str, int]) -> str:
    asked = (" ".join(line.split()) for line in search.subquery.splitlines())
    lines = [f"{SEARCH}{line}\n" for line in asked if line != question]
    if search.shown:
        lines += _texts(search.shown)
    facts = []
    for fact in search.facts:
        cited = sorted({numbers[id] for id in fact["passages"] if id in numbers})
        stated = f" {cited}" if cited else ""
        said = f"{clean_field(fact['predicate'])} | {clean_field(fact['object'])}{stated}"
        facts.append((clean_field(fact["subject"]), said))
    lines += [f"{line}\n" for line in by_subject(facts)]
    if not (search.shown or search.facts):
        lines.append(UNNOTED if search.unnoted else KNOWN if search.known else NOTHING)
    return "".join(lines)


def _texts(passages: Mapping[int, Passage]) -> list[str]:
    return [
        f"{number} {titled(passage['title'], passage['text'])}\n"
        for number, passage in passages.items()
    ]


def titled(title: str, text: str) -> str:
    """Write a passage; only its first line begins at the margin, as no line of a text may."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return f"[{' '.join(title.split())}] " + "\n  ".join(lines)
