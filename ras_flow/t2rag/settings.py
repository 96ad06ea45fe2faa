"""T²RAG's settings: those that all systems share, and its own."""

from __future__ import annotations

from typing import ClassVar, Literal

from ras_flow.llms.local.shipped import WEIGHTS, is_default
from ras_flow.settings.context import Context, Count, Name, Number

SHIPPED = WEIGHTS / "t2rag"
"""Where the package keeps the adapter that decomposes and resolves."""


class T2Context(Context):
    """Settings of one run of T²RAG.

    Attributes:
        max_hops: Rounds at most (the paper's N).
        planner: The model that decomposes the question.
        resolver: The model that fills slots; None for the planner's.
        triple_index: ``"stored"`` searches the index's propositions, which
            `ras-flow triples index` makes; ``"lazy"`` finds passages first and extracts them;
            ``"auto"`` takes stored ones if the index has them.
        unresolved: ``"keep"`` leaves a clue open that a round did not resolve; ``"drop"`` gives it
            up, as the paper's algorithm 1 does.
        claims: ``"check"`` searches for what the question itself claims; ``"trust"`` takes it for
            known, as the paper does.
        read_passages: Passages of a round that the resolver reads as text, the best first; None for
            all, 0 for their propositions alone.
        alternatives: Values of one slot that a round keeps.
    """

    model_roles: ClassVar[tuple[str, ...]] = ("planner", "resolver", "extractor", "answerer")
    bare_roles: ClassVar[tuple[str, ...]] = ("planner", "resolver")
    unread: ClassVar[frozenset[str]] = frozenset({"loop", "reads", "min_score"})

    max_hops: Count = 3
    resolver: Name | None = None
    triple_index: Literal["auto", "stored", "lazy"] = "auto"
    unresolved: Literal["keep", "drop"] = "keep"
    claims: Literal["check", "trust"] = "check"
    read_passages: Count | None = None
    alternatives: Number = 3

    def model_name(self, role: str) -> str:
        """Return the model of a role; by default the shipped adapter decomposes and resolves."""
        name = super().model_name("planner" if role == "resolver" and not self.resolver else role)
        if role in self.bare_roles and is_default(name):
            return f"local:{SHIPPED}"
        return name
