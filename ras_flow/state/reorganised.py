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
    scores = [known.get(id, best) for id in triples]
    return _reorganised(QueryKG.from_triples(triples), scores, roots, form)


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
    return _reorganised(graph, scores, roots, ChainForm(inverse=True))


def _reorganised(
    graph: QueryKG, scores: Sequence[float], roots: Collection[str], form: ChainForm
) -> Reorganised:
    names = graph.entities
    facts = [
        (names[subject], graph.triples[id]["predicate"], names[object])
        for id, (subject, object) in graph.edges.items()
    ]
    starts = dict.fromkeys(names.get(name_key(root), root) for root in roots)
    return reorganise(facts, starts, form, scores=scores, shown=shown)
