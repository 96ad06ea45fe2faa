"""How the simulated retriever and extractor of :mod:`~recipes.graph_llm.rollout` fail."""

from __future__ import annotations

from ras_flow.support.validation import Positive, Probability, Settings


class Noise(Settings):
    """What the simulated retriever and extractor get wrong, as probabilities where not said.

    Attributes:
        passages: Passages a hop (top-k).
        max_triples: Triples a passage.
        max_hops: Hops a run.
        found_by_question: Q finds the page of a step that it names.
        found: A subquery finds the page of its step.
        lucky: A search also finds the page of another step that could be asked for.
        dead_end: One step of the run is never found. When runs are played, its page is left out.
        nothing: Of failed hops: nothing was extracted at all.
        missed: Of hops whose page is not found: it is there, but the facts were not extracted, in
            this hop or a later one.
        ranked: The pages that a search finds stand before the others of its hop. Else all are in
            any order, which only matters where answers read the first passages of each hop.
        related: A distractor looks like an answer.
        kin: The page of a gold fact tells a made-up fact of the same subject, as the gold fact is
            told; see :mod:`~recipes.graph_llm.kin`. Two may come, each with this chance.
        respelled: A triple is respelled; see :mod:`~recipes.graph_llm.surface`.
        odd_case: The question is in odd case; see :mod:`~recipes.graph_llm.odd_case`.
    """

    passages: Positive[int] = 5
    max_triples: Positive[int] = 6
    max_hops: Positive[int] = 5
    found_by_question: Probability[float] = 0.8
    found: Probability[float] = 0.85
    lucky: Probability[float] = 0.1
    dead_end: Probability[float] = 0.1
    nothing: Probability[float] = 0.2
    missed: Probability[float] = 0.3
    ranked: Probability[float] = 0.0
    related: Probability[float] = 0.7
    kin: Probability[float] = 0.0
    respelled: Probability[float] = 0.3
    odd_case: Probability[float] = 0.0
