"""The graph encoder by itself, before the language model: whether a graph suffices.

Behind a language model that does not listen to it yet, a graph encoder learns little from a few
thousand records (benchmarks/results/soft_tokens.md). Alone it takes milliseconds a graph, so it can
see all plans several times, and what it brings is then there to be listened to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ras_flow.parts.records import AttributedGraph
from ras_flow.support.extras import require
from ras_flow.training.graph_llm.config import PretrainSettings
from ras_flow.training.graph_llm.data import Examples
from ras_flow.training.run import Logger

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

Labelled = tuple[AttributedGraph | None, bool]
"""A graph, and whether it is enough to answer its question."""

CLIP = 1.0


class LaterPlans(Sequence[Labelled]):
    """The plans after a search, each graph built when it is asked for."""

    def __init__(self, examples: Examples) -> None:
        self._examples = examples
        self._rows = [
            row
            for row, one in enumerate(examples.records)
            if one["task"] == "plan" and one["chain"]
        ]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, position: Any) -> Any:
        """Return a graph and its label."""
        row = self._rows[position]
        target = self._examples.records[row]["target"]
        return self._examples[row].request.graph, target["label"] == "SUFFICIENT"


def pretrain_graph_encoder(
    model: GraphLLM,
    plans: Sequence[Labelled],
    watched: Sequence[Labelled],
    settings: PretrainSettings,
    *,
    seed: int,
    log: Logger = lambda _: None,
) -> list[float]:
    """Train the graph encoder to tell whether a graph suffices (the labels of algorithm 1).

    A linear layer reads the label off the mean of the soft tokens' vectors, and is thrown away in
    the end; the projector is not touched.
    """
    torch = require("torch", extra="local")
    encoder: Any = model.encoder
    device = encoder.empty.device
    order = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    head = torch.nn.Linear(encoder.config.width, 1).to(device)

    def logits(some: Sequence[Labelled]) -> Any:
        vectors = [tokens.mean(0) for tokens in encoder([graph for graph, _ in some])]
        return head(torch.stack(vectors)).squeeze(1)

    def measure() -> list[float]:
        encoder.eval()
        with torch.no_grad():
            return [float(logits([one])) for one in watched]

    optimizer = torch.optim.AdamW(
        [*encoder.parameters(), *head.parameters()], lr=settings.learning_rate
    )
    training = encoder.training
    said: list[float] = []
    for epoch in range(settings.epochs if plans else 0):
        encoder.train()
        rows = torch.randperm(len(plans), generator=order).tolist()
        for start in range(0, len(rows), settings.batch_size):
            some = [plans[row] for row in rows[start : start + settings.batch_size]]
            labels = torch.tensor([float(label) for _, label in some], device=device)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits(some), labels)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), CLIP)
            optimizer.step()
        said = measure()
        right = sum((s > 0) == label for s, (_, label) in zip(said, watched, strict=True))
        log(
            f"graph encoder alone, pass {epoch + 1} over {len(plans)} plans: "
            f"{right} of {len(watched)} others right"
        )
    encoder.train(training)
    return said
