"""What training begins with: new weights around the base model, or those of an earlier training."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.checkpoint import load_weights
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.llms.local.generation import memory_errors_say
from ras_flow.support.extras import require
from ras_flow.support.files import checksum
from ras_flow.support.paths import path_named
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.graph_llm.data import Examples
from ras_flow.training.graph_llm.pretrain import LaterPlans, pretrain_graph_encoder
from ras_flow.training.graph_llm.trained import WEIGHTS, check_same, is_run_checkpoint, model_at
from ras_flow.training.run import Logger

if TYPE_CHECKING:
    from ras_flow.graph_llm.batching import Graphs
    from ras_flow.graph_llm.model import GraphLLM

SPREAD_OVER = 256
"""About how many records' graphs new soft tokens are spread over."""

_LEAST = 1e-3
"""Under this share of the vectors' size a dimension's spread tells no graphs apart."""


def first_model(start: str, config: GraphLLMConfig) -> tuple[GraphLLM, str]:
    """Return the model that training begins with, and the identity of its weights."""
    if not start:
        return build_graph_llm(config), ""
    source = find_graph_llm(start)
    if source is None:
        return _at_checkpoint(start, config)
    what = f"The Graph LLM {start!r} of model.start"
    check_same(what, config, source.config)
    model = build_graph_llm(config)
    load_weights(model, source.folder)
    return model, source.identity


def _at_checkpoint(start: str, config: GraphLLMConfig) -> tuple[GraphLLM, str]:
    kind, _, name = start.partition(":")
    checkpoint = path_named(name)
    if kind != "local" or not is_run_checkpoint(checkpoint):
        raise ConfigurationError(
            f"model.start = {start!r} is not a Graph LLM. Name local:default, or local: with a "
            "folder that `ras-flow train graph-llm` wrote, or with a checkpoint of its run."
        )
    return model_at(checkpoint, config), f"checkpoint:{checksum(checkpoint / WEIGHTS)}"


def start_graph(
    config: TrainingConfig,
    model: GraphLLM,
    plans: Examples,
    train: Examples,
    dev: Examples,
    log: Logger,
) -> None:
    """Give a new graph encoder and projector something to begin with."""
    seed = config.optimizer.seed
    with memory_errors_say(
        "Memory ran out while the graph encoder was prepared. Lower pretrain.batch_size (now "
        f"{config.pretrain.batch_size}), gnn.hidden (now {config.gnn.hidden}) or gnn.layers (now "
        f"{config.gnn.layers}), or hide a GPU that is too small (CUDA_VISIBLE_DEVICES=)."
    ):
        pretrain_graph_encoder(
            model, LaterPlans(plans), LaterPlans(dev), config.pretrain, seed=seed, log=log
        )
        # At random: each n-th of a file may always be a first plan, which has no graph yet.
        drawn = random.Random(seed).sample(range(len(train)), min(SPREAD_OVER, len(train)))
        some = [train[position] for position in sorted(drawn)]
        spread_soft_tokens(model, [example.request.graph for example in some])


def spread_soft_tokens(model: GraphLLM, graphs: Graphs) -> None:
    """Fold mean and spread of the graphs' vectors into a new projector (§3.3).

    The mean of a graph's nodes after a few convolutions is nearly the same for every graph, so a
    new projector makes nearly the same soft token of all, and training learns one good token for
    every prompt more easily than it widens so small a difference. Afterwards both layers see
    vectors with mean zero over these graphs, the first also with a spread of one in each dimension
    in which the graphs differ.
    """
    torch = require("torch", extra="local")
    encoder: Any = model.encoder
    projector: Any = model.projector
    inner, outer = projector.inner, projector.outer
    training = model.training
    model.eval()
    with torch.no_grad():
        # One by one: all of them together may need more memory than a step of training.
        vectors = torch.cat([encoder([graph])[0] for graph in graphs])
        vectors = vectors[(vectors != encoder.empty).any(1)]
        if len(vectors) > 1:
            spread = vectors.std(0)
            inner.weight.div_(spread.where(spread > _LEAST * vectors.square().mean().sqrt(), 1.0))
            inner.bias.sub_(inner.weight @ vectors.mean(0))
            hidden = torch.nn.functional.gelu(inner(vectors))
            outer.bias.copy_(-(outer.weight @ hidden.mean(0)))
    model.train(training)
