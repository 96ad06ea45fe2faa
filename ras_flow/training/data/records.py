"""The one training record, as JSON lines: data alone, without a word of any prompt.

A record is what planner or answerer see at one moment of a run, and what they should say. How it
is put into words is left to the formatter that training shares with inference.

::

    {"id": "2wiki/7f3a/0/plan-1", "source": "2wiki", "split": "train", "task": "plan",
     "question": "When was the director of Salt Road born?",
     "chain": [{"subquery": "When was the director of Salt Road born?",
                "triples": [["Salt Road", "directed by", "Aino Laine"]]}],
     "target": {"label": "SUBQ", "subquery": "When was Aino Laine born?"}}

Where passages are kept as text (table 2, "No Text-to-Triple"), a hop's ``triples`` are empty and it
has ``passages``, pairs of title and text.

An answer's target is ``{"answer": "..."}``. ``instruction`` is there only where a task has one,
``page`` where a plan's subquery looks for a page whose title is known; it is for measuring only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NoReturn, NotRequired, cast, get_args

from typing_extensions import TypedDict

from ras_flow.datasets.reading import read_json_lines
from ras_flow.errors import InputError
from ras_flow.formats.plan import MAX_SUBQUERY, PlanLabel, is_askable
from ras_flow.training.splits import SPLITS, Split

LABELS: tuple[PlanLabel, ...] = get_args(PlanLabel)


class Link(TypedDict):
    """A subquery and the (subject, predicate, object) triples that its hop found.

    Where passages are kept as text, it has their titles and texts instead.
    """

    subquery: str
    triples: list[list[str]]
    passages: NotRequired[list[list[str]]]


class Target(TypedDict, total=False):
    """What to say: a label (and, for SUBQ, a subquery), or an answer."""

    label: PlanLabel
    subquery: str
    answer: str


class Record(TypedDict):
    """One training example."""

    id: str
    source: str
    split: Split
    task: Literal["plan", "answer"]
    question: str
    instruction: NotRequired[str]
    page: NotRequired[str]
    chain: list[Link]
    target: Target


def read_records(path: Path) -> Iterator[Record]:
    """Read a file of records, plain or gzipped."""
    for number, value in read_json_lines(path):
        yield check_record(value, f"{path}:{number}")


def check_record(value: Any, where: str) -> Record:
    """Check that a JSON value is a record."""

    def fail(field: str, problem: str) -> NoReturn:
        raise InputError(f"{where}:{field}: {problem}.")

    if not isinstance(value, dict):
        raise InputError(f"{where}: a record is a JSON object, this is {_kind(value)}.")
    unknown = sorted(set(value) - set(Record.__annotations__))
    if unknown:
        fail(unknown[0], "a record has no such field")
    for field in ("id", "source", "question"):
        _text(value.get(field), field, fail)
    for field in {"instruction", "page"} & value.keys():
        _text(value[field], field, fail)
    if value.get("split") not in SPLITS:
        fail("split", f"must be one of {', '.join(SPLITS)}")
    if not isinstance(value.get("chain"), list):
        fail("chain", "must be a list, empty before the first hop")
    for hop, link in enumerate(value["chain"]):
        _check_link(link, f"chain[{hop}]", fail)
    if not isinstance(value.get("target"), dict):
        fail("target", "must be an object")
    if value.get("task") == "plan":
        _check_plan(value["target"], bool(value["chain"]), fail)
    elif value.get("task") == "answer":
        _fields(value["target"], {"answer"}, "target", fail)
        _text(value["target"].get("answer"), "target.answer", fail)
    else:
        fail("task", 'must be "plan" or "answer"')
    return cast("Record", value)


_Fail = Callable[[str, str], NoReturn]


def _check_link(link: Any, field: str, fail: _Fail) -> None:
    if not isinstance(link, dict):
        fail(field, 'must be an object with "subquery" and "triples"')
    _fields(link, {"subquery", "triples", "passages"}, field, fail)
    _text(link.get("subquery"), f"{field}.subquery", fail)
    if not isinstance(link.get("triples"), list):
        fail(f"{field}.triples", "must be a list")
    for at, triple in enumerate(link["triples"]):
        match triple:
            case [str(s), str(p), str(o)] if s.strip() and p.strip() and o.strip():
                _whole(s + p + o, f"{field}.triples[{at}]", fail)
            case _:
                fail(f"{field}.triples[{at}]", "must be three texts, none empty")
    if not isinstance(link.get("passages", []), list):
        fail(f"{field}.passages", "must be a list")
    for at, passage in enumerate(link.get("passages", [])):
        match passage:
            case [str(title), str(text)] if text.strip():
                _whole(title + text, f"{field}.passages[{at}]", fail)
            case _:
                fail(f"{field}.passages[{at}]", "must be a title and a text that is not empty")


def _check_plan(target: dict[str, Any], chained: bool, fail: _Fail) -> None:
    label = target.get("label")
    if label not in LABELS:
        fail("target.label", f"must be one of {', '.join(LABELS)}")
    if label == "SUFFICIENT" and not chained:
        fail("target.label", "before the first hop nothing is known that could be SUFFICIENT")
    if label == "NO_RETRIEVAL" and chained:
        fail("target.label", "NO_RETRIEVAL is a first plan; this chain has hops")
    _fields(target, {"label", "subquery"} if label == "SUBQ" else {"label"}, "target", fail)
    if label == "SUBQ":
        _text(target.get("subquery"), "target.subquery", fail)
        if not is_askable(target["subquery"]):
            fail("target.subquery", f"must have a word in it and at most {MAX_SUBQUERY} characters")


def _fields(value: dict[str, Any], allowed: set[str], field: str, fail: _Fail) -> None:
    unknown = sorted(set(value) - allowed)
    if unknown:
        fail(f"{field}.{unknown[0]}", f"has no place here, only {', '.join(sorted(allowed))}")


def _text(value: Any, field: str, fail: _Fail) -> None:
    if not isinstance(value, str) or not value.strip():
        fail(field, f"must be a text that is not empty, is {_kind(value)}")
    _whole(value, field, fail)


def _whole(text: str, field: str, fail: _Fail) -> None:
    """Refuse half a character: tokenizers and files take none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):x}"
        fail(field, f"has half a character ({half}) in it; write it as valid Unicode")


def _kind(value: Any) -> str:
    if value is None:
        return "missing"
    return "empty" if isinstance(value, str) else f"a {type(value).__name__}"
