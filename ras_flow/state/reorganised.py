"""A run's triples as evidence chains: computed from its state, never stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ras_flow.formats.chains import ChainForm, Reorganised, reorganise
from ras_flow.formats.node_ids import NAMELESS, is_nameless
from ras_flow.formats.normalize import name_key
from ras_flow.state.kg import QueryKG, spo_of
from ras_flow.state.names import Names, content_words, longest
from ras_flow.state.schema import Hop, Triple


def shown(name: str) -> str:
    """Return an entity's name as people and models read it."""
    return NAMELESS if is_nameless(name) else name


def reorganise_facts(
    triples: Mapping[str, Triple],
    hops: Sequence[Hop],
    roots: Collection[str],
    form: ChainForm,
) -> Reorganised:
    """Rewrite facts of a knowledge graph as chains from a question's entities.

    Their scores are the search's; what a person added is as good as the best.
    """
    known: dict[str, float] = {}
    for hop in hops:
        for id, score in hop.get("triple_scores", {}).items():
            known[id] = max(score, known.get(id, score))
    best = max(known.values(), default=1.0)
    return _reorganised(triples, [known.get(id, best) for id in triples], roots, form)


def reorganise_found(
    question: str, triples: Mapping[str, Triple], hops: Sequence[Hop]
) -> Reorganised:
    """Rewrite what was found in texts as chains from what the question names.

    Triples are as good as the share of their words that question and subqueries have. Extracted
    triples point either way, so chains go both.
    """
    wanted = content_words(" ".join([question, *(hop["subquery"] for hop in hops)])).keys()
    scores = []
    for triple in triples.values():
        words = content_words(" ".join(spo_of(triple)))
        scores.append(len(wanted & words.keys()) / (len(words) or 1))
    graph = QueryKG.from_triples(triples)
    names = Names(graph.entities.values())
    named = longest(names.within(question))
    roots = [name for name in graph.entities.values() if names.form(name) in named]
    return _reorganised(triples, scores, roots, ChainForm(inverse=True))


def _reorganised(
    triples: Mapping[str, Triple],
    scores: Sequence[float],
    roots: Collection[str],
    form: ChainForm,
) -> Reorganised:
    graph = QueryKG.from_triples(triples)
    ends = {id: [graph.entities[end] for end in ends] for id, ends in graph.edges.items()}
    facts = [(ends[id][0], it["predicate"], ends[id][1]) for id, it in triples.items()]
    starts = dict.fromkeys(graph.entities.get(name_key(root), root) for root in roots)
    return reorganise(facts, starts, form, scores=scores, shown=shown)
