"""Edits of a question's graph, its passages and its models: what every system's runs have."""

from __future__ import annotations

from ras_flow.edits.draft import Draft, Operation
from ras_flow.edits.records import AddTriple, DropPassage, DropTriple, SetModel
from ras_flow.formats.triples import clean_field
from ras_flow.settings.context import CHAIN_ENDS, NO_EXTRACTOR
from ras_flow.state.kg import merge_triples, to_new_triples, triple_id, triple_of
from ras_flow.state.schema import Extracted, Hop, Triple


def drop_triple(draft: Draft, edit: DropTriple) -> None:
    """Take a triple out of the graph, or out of what is about to be merged."""
    id = edit["triple"]
    if id not in draft.triples and id not in to_new_triples(draft.extracted):
        draft.refuse(f"the graph does not have the triple {id!r} at this step.")
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


def add_triple(draft: Draft, edit: AddTriple) -> None:
    """Put a triple into the graph."""
    if not draft.hops:
        draft.refuse("nothing has been retrieved yet; add triples from the first hop on.")
    parts = draft.fields(edit)
    passages = edit.get("passages", [])
    for id in passages:
        if id not in draft.passages:
            draft.refuse(f"the run has not found the passage {id!r} yet; leave `passages` off.")
    merged = merge_triples(draft.triples, {triple_id(*parts): triple_of(parts, passages)})
    if merged == draft.triples:
        draft.refuse("the graph has this triple already.")
    draft.triples = merged


def drop_passage(draft: Draft, edit: DropPassage) -> None:
    """Take out a passage, and the triples that no other passage states."""
    id = edit["passage"]
    if id not in draft.passages:
        draft.refuse(f"the run has not found the passage {id!r} at this step.")
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


def set_model(draft: Draft, edit: SetModel) -> None:
    """Go on with another model for a role."""
    role, name = edit["role"], edit["name"]
    if role not in draft.context_type.model_roles:
        draft.refuse(
            f"{role!r} is not a role: use one of {', '.join(draft.context_type.model_roles)}."
        )
    provider, _, model = name.partition(":")
    without = (role, name) in (("extractor", NO_EXTRACTOR), ("answerer", CHAIN_ENDS))
    if not without and not (provider.strip() and model.strip()):
        draft.refuse(
            f"the model name {name!r} is not of the form provider:model; write for example "
            "openai:gpt-5-mini or local:default."
        )
    draft.settings[role] = name
    draft.context()
    if draft.state.get("encodes") is not None:
        draft.more["encodes"] = None  # The next merge finds out whether the new model reads it.


SHARED = {
    "drop_triple": Operation(DropTriple, drop_triple),
    "add_triple": Operation(AddTriple, add_triple),
    "drop_passage": Operation(DropPassage, drop_passage),
    "model": Operation(SetModel, set_model),
}
"""The edits that every system's runs can have, by ``op``."""

GRAPH_EDITS = ("drop_triple", "add_triple", "drop_passage")
