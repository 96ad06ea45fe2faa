"""A state that is being edited, and what a system says of its edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from langgraph.types import Overwrite

from ras_flow.errors import ConfigurationError, EditError
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import MAX_FIELD, Spo, clean_field
from ras_flow.settings.context import Context
from ras_flow.state.kg import merge_triples
from ras_flow.state.schema import Extracted, Hop, Passage, Plan, Triple

_SPO = ("subject", "predicate", "object")

BEGINNING = ("__start__", "start")
"""The nodes before which a run has only been asked."""


class EditPoint(NamedTuple):
    """Which edits make sense before a node, and after which node the run then goes on."""

    allowed: tuple[str, ...]
    as_node: str


@dataclass
class Draft:
    """A state that is being edited.

    Attributes:
        state: The state before.
        before: The node that comes next.
        context_type: The class of the run's settings.
        at: The edit at work, for messages.
        as_node: After which node the run goes on, where not as the edit point says.
        more: Changes of channels that only one system has.
        replaced: Such channels as a whole.
    """

    state: Any
    before: str
    context_type: type[Context]
    at: str = ""
    as_node: str = ""
    more: dict[str, Any] = field(default_factory=dict)
    replaced: dict[str, Any] = field(default_factory=dict)
    triples: dict[str, Triple] = field(init=False)
    passages: dict[str, Passage] = field(init=False)
    hops: list[Hop] = field(init=False)
    plans: list[Plan] = field(init=False)
    extracted: list[Extracted] = field(init=False)
    settings: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.triples = dict(self.state.get("triples") or {})
        self.passages = dict(self.state.get("passages") or {})
        self.hops = list(self.state.get("hops") or [])
        self.plans = list(self.state.get("plans") or [])
        self.settings = dict(self.state.get(self.settings_key) or {})
        # Between extraction and merge a hop's triples are here and not yet in the graph.
        pending = self.before == "merge_graph"
        self.extracted = list(self.state.get("extracted") or []) if pending else []

    def refuse(self, why: str) -> NoReturn:
        """Refuse the edit at work."""
        raise EditError(f"{self.at}: {why}")

    def fields(self, edit: Any) -> Spo:
        """Return the subject, predicate and object that someone wrote, or refuse them."""
        subject, predicate, object = (clean_field(edit[name]) for name in _SPO)
        for name, part in zip(_SPO, (subject, predicate, object), strict=True):
            if not normalize_name(part):
                self.refuse(f"the {name} has no letter, digit or symbol in it; write one.")
            if len(part) > MAX_FIELD:
                self.refuse(f"the {name} has {len(part)} characters; {MAX_FIELD} fit.")
        return subject, predicate, object

    @property
    def settings_key(self) -> str:
        """The channel of the settings: those asked for, until ``start`` has resolved them."""
        return "settings" if self.before in BEGINNING else "context"

    def as_state(self) -> Any:
        """Return the whole state as edited so far, for routing."""
        edited = {
            "hops": self.hops,
            "passages": self.passages,
            "triples": self.triples,
            "plans": self.plans,
            self.settings_key: self.settings,
        }
        return {**self.state, **edited, **self.more, **self.replaced}

    def context(self) -> Context:
        """Return the run's settings as edited so far."""
        try:
            return self.context_type.from_mapping(self.settings)
        except ConfigurationError as error:
            self.refuse(f"the run's settings cannot be used: {error}")

    def values(self) -> dict[str, Any]:
        """Return the update, as small as the reducers allow."""
        old = self.state
        update: dict[str, Any] = {}
        if self.triples != old.get("triples", {}):
            update["triples"] = self._graph_update()
        if gone := old.get("passages", {}).keys() - self.passages:
            update["passages"] = dict.fromkeys(sorted(gone))
        if hops := [hop for hop in self.hops if hop not in old.get("hops", [])]:
            update["hops"] = hops
        if self.plans != (old.get("plans") or []):
            update["plans"] = self._plan_update()
        if self.before == "merge_graph" and self.extracted != old.get("extracted"):
            update["extracted"] = self.extracted
        if self.settings != (old.get(self.settings_key) or {}):
            update[self.settings_key] = self.settings
        update |= self.more
        for channel, value in self.replaced.items():
            if value != old.get(channel):
                update[channel] = Overwrite(value)
        if self.before in BEGINNING:
            # What was asked is asked again: documents and settings last for one step only.
            names = ("question", "documents", "settings")
            return {**{name: old[name] for name in names if old.get(name)}, **update}
        if old.get("stop_reason"):
            update |= {"answer": "", "citations": [], "supported": False, "support": ""}
            update["stop_reason"] = None
        return update

    def _plan_update(self) -> object:
        # The reducer merges a plan into the one that it replaces: its problem would stay.
        known = self.state.get("plans", [])
        added = self.plans[len(known) :]
        return added if self.plans[: len(known)] == known else Overwrite(self.plans)

    def _graph_update(self) -> object:
        known = self.state.get("triples", {})
        change = {
            id: self.triples.get(id)
            for id in [*known, *self.triples]
            if known.get(id) != self.triples.get(id)
        }
        # The reducer adds passages to a known triple, but takes none away.
        merged = merge_triples(known, change)
        return change if merged == self.triples else Overwrite(self.triples)


@dataclass(frozen=True)
class Operation:
    """A kind of edit.

    Attributes:
        record: The TypedDict of its JSON form, with its ``op``.
        apply: Makes the change in a draft, or refuses it there.
    """

    record: Any
    apply: Callable[[Draft, Any], None]
