"""Edits applied to a state: what to write, and after which node the run goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from langgraph.types import Overwrite

from ras_flow.edits.operations import AddTriple, Edit, SetModel
from ras_flow.errors import ConfigurationError, EditError, InputError
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.plan import PlanLabel, format_plan
from ras_flow.formats.triples import MAX_FIELD, clean_field
from ras_flow.routing import decide, pending_plan, read_plan
from ras_flow.settings.context import NO_EXTRACTOR, Context, kept_settings
from ras_flow.state.channels import RasState
from ras_flow.state.kg import merge_triples, to_new_triples, triple_id
from ras_flow.state.schema import Extracted, Hop, Passage, Plan, Triple

_GRAPH = ("drop_triple", "add_triple", "drop_passage")
_PLAN = ("subquery", "plan")

_WHERE: dict[str, tuple[tuple[str, ...], str]] = {
    "__start__": ((), "__start__"),
    "start": (("model",), "__start__"),
    "plan": ((*_GRAPH, *_PLAN, "model"), "encode"),
    "review_plan": ((*_GRAPH, *_PLAN, "model"), "review_plan"),
    "retrieve": ((*_GRAPH, *_PLAN, "model"), "review_plan"),
    "to_triples": ((*_GRAPH, "model"), "retrieve"),
    "merge_graph": ((*_GRAPH, "model"), "to_triples"),
    "review_graph": ((*_GRAPH, "model"), "encode"),
    "encode": ((*_GRAPH, *_PLAN, "model"), "encode"),
    "review_answer": ((*_GRAPH, *_PLAN, "model"), "review_answer"),
    "answer": ((*_GRAPH, *_PLAN, "model"), "review_answer"),
    "": ((*_GRAPH, *_PLAN, "model"), "review_answer"),
}
"""By the node that comes next, "" at the end: the edits that make sense, and the node after which
the routing leads there again. An edited plan always goes on after ``review_plan``.

Edits count as reviewed: nobody is asked about them again. No node of the right column needs a
model for its routing, so that a model that cannot be loaded does not stop an edit halfway; an
encoded graph that an edit made stale is encoded again by the node that needs it."""


@dataclass(frozen=True)
class EditedState:
    """What edits come to.

    Attributes:
        values: The update of the state, for ``aupdate_state`` or as what a node returns.
        as_node: The node that the update counts as: the run goes on as after it.
    """

    values: dict[str, Any]
    as_node: str


def apply_edits(state: RasState, edits: Sequence[Edit], before: str) -> EditedState:
    """Work out what edits do to a state; later ones see what earlier ones did.

    An edited graph leads to the next node again; at the end of a run, to a new answer. A passage
    that is dropped takes the triples along that no other passage states. A subquery or plan takes
    the place of the plan that has not been acted on.
    """
    if before not in _WHERE:
        raise EditError(
            f"This step comes before {before!r}, a node that this version of ras_flow does not "
            "have: edit an earlier step, or use the version that made the run."
        )
    allowed, as_node = _WHERE[before]
    if not edits:
        return EditedState({}, as_node)
    draft = _Draft(state, before)
    for number, edit in enumerate(edits, 1):
        draft.at = f"Edit {number} ({edit['op']})"
        if edit["op"] not in allowed:
            draft.refuse(_not_here(edit["op"], before))
        _APPLY[edit["op"]](draft, cast(Any, edit))
    return EditedState(draft.values(), "review_plan" if draft.replanned else as_node)


def _not_here(op: str, before: str) -> str:
    if before in ("__start__", "start"):
        return "nothing is known before the run's first step: edit the step after `start`."
    return (
        f"the run is about to {before}, where `{op}` has no effect: fork from the step before "
        "the hop's retrieval, or from the one after its merge."
    )


@dataclass
class _Draft:
    """A state that is being edited."""

    state: RasState
    before: str
    at: str = ""
    replanned: bool = False
    triples: dict[str, Triple] = field(init=False)
    passages: dict[str, Passage] = field(init=False)
    hops: list[Hop] = field(init=False)
    plans: list[Plan] = field(init=False)
    extracted: list[Extracted] = field(init=False)
    settings: dict[str, Any] = field(init=False)
    models: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.triples = dict(self.state.get("triples") or {})
        self.passages = dict(self.state.get("passages") or {})
        self.hops = list(self.state.get("hops") or [])
        self.plans = list(self.state.get("plans") or [])
        self.settings = dict(self.state.get("settings") or {})
        self.models = dict(self.state.get("models") or {})
        # Between extraction and merge a hop's triples are here and not yet in the graph.
        pending = self.before == "merge_graph"
        self.extracted = list(self.state.get("extracted") or []) if pending else []

    def refuse(self, why: str) -> NoReturn:
        raise EditError(f"{self.at}: {why}")

    def as_state(self) -> RasState:
        edited = {"plans": self.plans, "hops": self.hops, "settings": self.settings}
        return cast(RasState, {**self.state, **edited})

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
        if self.replanned:
            update["plans"] = self._plan_update()
        if self.before == "merge_graph" and self.extracted != old.get("extracted"):
            update["extracted"] = self.extracted
        if self.settings != (old.get("settings") or {}):
            update["settings"] = self.settings
        if self.models != (old.get("models") or {}):
            update["models"] = self.models
        if self.before in ("__start__", "start"):
            # What was asked is asked again: documents last for one step only.
            asked = {name: old.get(name) for name in ("question", "documents") if old.get(name)}
            return {**asked, **update}
        if old.get("stop_reason"):
            update |= {"answer": "", "citations": [], "stop_reason": None}
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


def _drop_triple(draft: _Draft, edit: Any) -> None:
    id = edit["triple"]
    if id not in draft.triples and id not in to_new_triples(draft.extracted):
        draft.refuse(f"there is no triple {id!r} in the graph at this step.")
    draft.triples.pop(id, None)
    draft.extracted = [
        Extracted(
            passage=item["passage"],
            triples=[
                parts for parts in item["triples"] if triple_id(*map(clean_field, parts)) != id
            ],
        )
        for item in draft.extracted
    ]


def _add_triple(draft: _Draft, edit: AddTriple) -> None:
    if not draft.hops:
        draft.refuse("nothing has been retrieved yet; add triples from the first hop on.")
    parts = [clean_field(edit[name]) for name in ("subject", "predicate", "object")]
    for name, part in zip(("subject", "predicate", "object"), parts, strict=True):
        if not normalize_name(part):
            draft.refuse(f"the {name} has no letter, digit or symbol in it; write one.")
        if len(part) > MAX_FIELD:
            draft.refuse(f"the {name} has {len(part)} characters; {MAX_FIELD} fit.")
    passages = edit.get("passages", [])
    for id in passages:
        if id not in draft.passages:
            draft.refuse(f"there is no passage {id!r} at this step; leave `passages` off.")
    subject, predicate, object = parts
    triple = Triple(subject=subject, predicate=predicate, object=object, passages=passages)
    merged = merge_triples(draft.triples, {triple_id(*parts): triple})
    if merged == draft.triples:
        draft.refuse("the graph has this triple already.")
    draft.triples = merged


def _drop_passage(draft: _Draft, edit: Any) -> None:
    id = edit["passage"]
    if id not in draft.passages:
        draft.refuse(f"there is no passage {id!r} at this step.")
    del draft.passages[id]
    draft.hops = [_hop_without(hop, id) for hop in draft.hops]
    draft.extracted = [item for item in draft.extracted if item["passage"] != id]
    kept: dict[str, Triple] = {}
    for key, triple in draft.triples.items():
        if id not in triple["passages"]:
            kept[key] = triple
        elif others := [other for other in triple["passages"] if other != id]:
            kept[key] = {**triple, "passages": others}
    draft.triples = kept


def _hop_without(hop: Hop, passage: str) -> Hop:
    ranked = zip(hop["passages"], hop["scores"], strict=True)
    kept = [(id, score) for id, score in ranked if id != passage]
    if len(kept) == len(hop["passages"]):
        return hop
    return {
        **hop,
        "passages": [id for id, _ in kept],
        "scores": [score for _, score in kept],
        "dropped": [*hop.get("dropped", []), passage],
    }


def _set_subquery(draft: _Draft, edit: Any) -> None:
    try:
        raw = format_plan("SUBQ", edit["text"])
    except InputError as error:
        draft.refuse(str(error))
    if draft.hops:
        _set_plan(draft, {"text": raw})
    else:
        # Unlike a planner, who always asks the question itself first, a person means the words.
        _replan(draft, "SUBQ", raw.removeprefix("[SUBQ] "), raw)


def _set_plan(draft: _Draft, edit: Any) -> None:
    label, subquery, problem = read_plan(draft.as_state(), edit["text"])
    if label is None:
        draft.refuse(f"the plan cannot be used. {problem}")
    _replan(draft, label, subquery, edit["text"])


def _replan(draft: _Draft, label: PlanLabel, subquery: str, raw: str) -> None:
    pending = pending_plan(draft.as_state())
    index = pending["index"] if pending else len(draft.plans)
    plan = Plan(index=index, hop=len(draft.hops), label=label, subquery=subquery, raw=raw)
    draft.plans = [*(draft.plans[:-1] if pending else draft.plans), plan]
    draft.replanned = True
    if label == "SUBQ":
        stop = decide(draft.as_state(), _context(draft)).stop_reason
        if stop:
            draft.refuse(
                f"nothing more can be retrieved at this step, the run's limits say {stop!r}. Fork "
                "from an earlier step, or ask again with wider limits."
            )


def _set_model(draft: _Draft, edit: SetModel) -> None:
    provider, _, model = edit["name"].partition(":")
    no_extractor = edit["role"] == "extractor" and edit["name"] == NO_EXTRACTOR
    if not no_extractor and not (provider.strip() and model.strip()):
        draft.refuse(
            f"the model name {edit['name']!r} is not of the form provider:model; write for example "
            "openai:gpt-5-mini or local:default."
        )
    draft.settings[edit["role"]] = edit["name"]
    # Settings give way to a context that the caller passes when the run goes on; this does not.
    draft.models[edit["role"]] = edit["name"]
    _context(draft)


def _context(draft: _Draft) -> Context:
    try:
        return Context.from_mapping(kept_settings({**draft.state, "settings": draft.settings}))
    except ConfigurationError as error:
        draft.refuse(f"the run's settings cannot be used: {error}")


_APPLY: dict[str, Callable[[_Draft, Any], None]] = {
    "drop_triple": _drop_triple,
    "add_triple": _add_triple,
    "drop_passage": _drop_passage,
    "subquery": _set_subquery,
    "plan": _set_plan,
    "model": _set_model,
}
