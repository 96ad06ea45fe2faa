"""What differs between retrievers as they are trained: model, examples as numbers, and scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.kg.retrievers.batch import Item, Texts, stack
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.extras import require
from ras_flow.support.paths import cache_folder
from ras_flow.training.retriever.config import TrainingConfig
from ras_flow.training.retriever.data import Example, make_items
from ras_flow.training.retriever.paths import make_path_items, stack_paths
from ras_flow.training.run import Logger
from ras_flow.training.texts.encoding import IGNORED, batches_of
from ras_flow.training.vectors import embed


@dataclass(frozen=True)
class Task:
    """A model and its items, one of ``dev`` for each example; ``collate`` makes its arguments."""

    model: Any
    train: Sequence[Any]
    sizes: Sequence[int]
    dev: Sequence[Any]
    collate: Callable[[Sequence[Any]], dict[str, Any]]
    vectors: dict[str, npt.NDArray[np.float32]]


def make_task(
    config: TrainingConfig,
    train: Sequence[Example],
    dev: Sequence[Example],
    encoder: SentenceEncoder,
    log: Logger,
) -> Task:
    """Make the task of a kind of retriever; the seed decides its new weights."""
    seed, kind = config.optimizer.seed, config.model.kind
    if kind == "lm":
        return _lm_task(config, train, dev)
    texts = Texts()
    items: list[Sequence[Any]] = [
        make_path_items(part, texts) if kind == "path" else make_items(part, config.model, texts)
        for part in (train, dev)
    ]
    log(f"embedding {len(texts)} texts")
    vectors = embed(list(texts), encoder, cache_folder() / "embeddings")
    require("transformers", extra="local").set_seed(seed)
    more = {"degrees": _degrees(items[0])} if kind == "entity" else {}
    model = config.model.build(encoder.dimension, **more)
    collate = partial(stack_paths if kind == "path" else stack, vectors=vectors)
    table = {text: vectors[row] for text, row in texts.items()}
    return Task(model, items[0], [item.size for item in items[0]], items[1], collate, table)


def _lm_task(config: TrainingConfig, train: Sequence[Example], dev: Sequence[Example]) -> Task:
    """Make the task of a language model: a text for each path of a training question."""
    require("transformers", extra="local").set_seed(config.optimizer.seed)
    model: Any = config.model.build(0)
    tokenizer = model.tokenizer
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token

    def text(example: Example, path: Sequence[tuple[str, bool]]) -> dict[str, list[int]]:
        asked = model.prompt(example.record["question"], example.record["entities"])
        lines = [token for relation in path for token in model.tokens(*relation)]
        target = [*lines, tokenizer.eos_token_id]
        return {"input_ids": asked + target, "labels": [IGNORED] * len(asked) + target}

    items = [text(example, path) for example in train for path in example.record["paths"]]
    watched = [text(example, example.record["paths"][0]) for example in dev]
    sizes = [len(item["input_ids"]) for item in items]
    return Task(model, items, sizes, watched, batches_of(tokenizer, model.lm, "causal"), {})


def _degrees(items: Sequence[Item]) -> Any:
    """Return how many nodes have each degree, messages going both ways."""
    torch = require("torch", extra="local")
    ends = {id(item.graph): item.graph.triples[:, [0, 2]] for item in items}.values()
    return torch.from_numpy(np.bincount(np.concatenate([np.bincount(one.ravel()) for one in ends])))
