"""The one training record, as JSON lines: data alone, without a word of any prompt.

A record is what planner or answerer see at one moment of a run, and what they should say, as in
docs/training.md. Training and inference share the formatter that puts it into words.

Where passages are kept as text (table 2, "No Text-to-Triple"), a hop's ``triples`` are empty and it
has ``passages``, pairs of title and text.

An answer's target is ``{"answer": "..."}``. Only some tasks have an ``instruction``. ``page`` is
the title of the page that a plan's subquery looks for, where it is known; only measures use it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, get_args

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from ras_flow.errors import InputError
from ras_flow.formats.plan import MAX_SUBQUERY, is_askable
from ras_flow.state.schema import PlanLabel
from ras_flow.support.validation import checked
from ras_flow.training.splits import Split

LABELS: tuple[PlanLabel, ...] = get_args(PlanLabel)


def _whole(text: str) -> str:
    """Refuse half a character: tokenizers and files cannot take it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode, without half a character") from None
    return text


def _shown(text: str) -> str:
    if not text.strip():
        raise ValueError("must be a text that is not empty")
    return text


def _has_text(passage: list[str]) -> list[str]:
    _shown(passage[1])
    return passage


Whole = Annotated[str, AfterValidator(_whole)]
Text = Annotated[Whole, AfterValidator(_shown)]
Fields = Annotated[list[Text], Field(min_length=3, max_length=3)]
PassageFields = Annotated[list[Whole], Field(min_length=2, max_length=2), AfterValidator(_has_text)]
EXACT = ConfigDict(extra="forbid", strict=True)


@with_config(EXACT)
class Link(TypedDict):
    """A subquery and the triples that its hop found, or titles and texts of its passages."""

    subquery: Text
    triples: list[Fields]
    passages: NotRequired[list[PassageFields]]


@with_config(EXACT)
class Target(TypedDict, total=False):
    """What to say: a label (and, for SUBQ, a subquery), or an answer."""

    label: PlanLabel
    subquery: Text
    answer: Text


@with_config(EXACT)
class Record(TypedDict):
    """One training example."""

    id: Text
    source: Text
    split: Split
    task: Literal["plan", "answer"]
    question: Text
    instruction: NotRequired[Text]
    page: NotRequired[Text]
    chain: list[Link]
    target: Target


_RECORD: TypeAdapter[Record] = TypeAdapter(Record)


def check_record(value: Any, where: str) -> Record:
    """Check that a JSON value is a record."""
    record: Record = checked(_RECORD, value, where, InputError)
    if problem := _problem(record["task"], record["target"], hops=len(record["chain"])):
        raise InputError(f"{where}: target: {problem}.")
    return record


def _problem(task: str, target: Target, *, hops: int) -> str:
    """Say what is wrong with a target; empty if it is right."""
    label = target.get("label")
    needed = {"answer"} if task == "answer" else {"label"}
    if task == "plan" and label == "SUBQ":
        needed.add("subquery")
    if target.keys() != needed:
        return f"it must have {' and '.join(sorted(needed))}, and nothing else"
    if label in ("SUFFICIENT", "NOT_FOUND") and not hops:
        return f"{label} needs a hop: before the first, nothing is known"
    if label == "NO_RETRIEVAL" and hops:
        return "NO_RETRIEVAL is a first plan, and this chain has hops"
    if label == "SUBQ" and not is_askable(target["subquery"]):
        return f"subquery must have a word in it and at most {MAX_SUBQUERY} characters"
    return ""
