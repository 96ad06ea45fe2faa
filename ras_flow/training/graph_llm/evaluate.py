"""Let a model plan and answer from the graphs and chains of records, and measure it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.plan import parse_plan
from ras_flow.graph_llm.checkpoint import load_graph_llm
from ras_flow.graph_llm.roles import PLAN_TOKENS
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.indexes import open_retriever
from ras_flow.llms import load_language_model
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.prompted import PromptedAnswerer, PromptedPlanner
from ras_flow.parts.protocols import LanguageModel, Retriever, SentenceEncoder
from ras_flow.parts.records import AnswerRequest, PlanRequest
from ras_flow.training.data.records import Record
from ras_flow.training.data.requests import as_request
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.graph_llm.data import MEASURED_SEED, read_split, sample
from ras_flow.training.graph_llm.graphs import Graphs, build_graphs, nearest_records, shuffled
from ras_flow.training.graph_llm.scores import Measures, NextPassage, measure
from ras_flow.training.graph_llm.trained import is_run_checkpoint, model_at
from ras_flow.training.run import Logger

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

AT_ONCE = 256
"""Records between two reports of how far it is."""


def evaluate(
    config: TrainingConfig,
    model: str,
    *,
    data: Path = Path(),
    split: str = "dev",
    most: int | None = None,
    index: Path | None = None,
    encoder: SentenceEncoder | None = None,
    log: Logger = lambda _: None,
) -> Measures:
    """Measure a model on a split of the data that settings name, outside of any event loop."""
    retriever = open_retriever(index, "bm25") if index else None
    if split not in ("dev", "test"):
        raise ConfigurationError(f"A model is measured on dev or test, not on {split!r}.")
    records = read_split(
        [data / name for name in config.data.sets],
        "test" if split == "test" else "dev",
        task=config.model.task,
    )
    if most is not None:
        records = sample(records, most, seed=MEASURED_SEED)
    if not records:
        raise InputError(f"No records for {split} in {', '.join(config.data.sets)}.")
    found = None if Path(model).exists() else find_graph_llm(model)
    folder = found.folder if found else Path(model)
    if not folder.exists() and ":" in model:
        measures = asyncio.run(
            evaluate_language_model(load_language_model(model), records, log=log)
        )
    else:
        subject: GraphLLM | Path = folder
        if is_run_checkpoint(folder):
            encoder = encoder or LocalSentenceEncoder(config.model.encoder)
            subject = model_at(folder, config.graph_llm(encoder.identity, encoder.dimension))
        measures = evaluate_graph_llm(
            subject,
            records,
            encoder=encoder,
            shuffle=config.optimizer.seed if config.model.graphs == "shuffled" else None,
            batch_size=config.watch.batch_size,
            log=log,
        )
    if retriever is None:
        return measures
    return replace(
        measures, next_passage=asyncio.run(find_next(records, measures.texts, retriever))
    )


def evaluate_graph_llm(
    model: GraphLLM | Path,
    records: Sequence[Record],
    *,
    encoder: SentenceEncoder | None = None,
    graphs: Graphs | None = None,
    shuffle: int | None = None,
    batch_size: int = 8,
    log: Logger = lambda _: None,
) -> Measures:
    """Let a model plan and answer, and compare with the targets, outside of any event loop."""
    if isinstance(model, Path):
        model = load_graph_llm(model)
    most = model.config.max_triples
    if model.config.gnn is None and most is None:
        graphs = None
    elif graphs is None:
        encoder = encoder or LocalSentenceEncoder(model.config.encoder_name)
        if not model.config.reads(encoder.identity):
            raise ConfigurationError(
                "The Graph LLM was trained with the sentence encoder "
                f"{model.config.encoder!r}, not with {encoder.identity!r}. Set `encoder` to that "
                "one."
            )
        records = nearest_records(records, encoder, most)
        graphs = build_graphs(records, encoder) if model.config.gnn else None
    if graphs is not None and shuffle is not None:
        graphs = shuffled(graphs, shuffle)
    texts: dict[int, str] = {}
    limits = [token_limit(record) for record in records]
    for limit in sorted(set(limits)):
        rows = [row for row, its in enumerate(limits) if its == limit]
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            asked = [as_request(records[row]) for row in part]
            own = [graphs[row] if graphs is not None else None for row in part]
            requests = [replace(one, graph=g) for one, g in zip(asked, own, strict=True)]
            made = model.generate(
                [model.formatter.prompt(one) for one in requests],
                own,
                max_new_tokens=limit,
                batch_size=batch_size,
            )
            texts.update(zip(part, (one.text for one in made), strict=True))
            log(f"{len(texts)} of {len(records)} records")
    return measure(records, texts)


async def evaluate_language_model(
    model: LanguageModel,
    records: Sequence[Record],
    *,
    log: Logger = lambda _: None,
) -> Measures:
    """Let a language model that was not trained plan and answer by few-shot prompts."""
    planner, answerer = PromptedPlanner(model), PromptedAnswerer(model)
    texts: dict[int, str] = {}
    for start in range(0, len(records), AT_ONCE):
        rows = range(start, min(start + AT_ONCE, len(records)))
        asked = {row: as_request(records[row]) for row in rows}
        plans = {row: one for row, one in asked.items() if isinstance(one, PlanRequest)}
        answers = {row: one for row, one in asked.items() if isinstance(one, AnswerRequest)}
        replies = await planner.plan(list(plans.values()))
        replies += await answerer.answer(list(answers.values()))
        said = zip([*plans, *answers], replies, strict=True)
        texts.update((row, reply.text) for row, reply in said)
        log(f"{len(texts)} of {len(records)} records")
    return measure(records, texts)


def token_limit(record: Record) -> int:
    """Return how many tokens a model may write for a record, as in a run."""
    request = as_request(record)
    return request.max_new_tokens if isinstance(request, AnswerRequest) else PLAN_TOKENS


async def find_next(
    records: Sequence[Record], texts: Sequence[str], retriever: Retriever, *, k: int = 5
) -> NextPassage:
    """Search for the next gold passage of each plan by its target's subquery and by the model's."""
    rows = [row for row, one in enumerate(records) if one["chain"] and "page" in one]
    pages = [normalize_name(records[row]["page"]) for row in rows]
    own = [records[row]["target"]["subquery"] for row in rows]
    plans = [parse_plan(texts[row]) for row in rows]
    made = [plan.subquery if plan.label == "SUBQ" else "" for plan in plans]
    queries = list(dict.fromkeys(query for query in [*own, *made] if query))
    found = await retriever.retrieve(queries, k)
    titles = {
        query: {normalize_name(one.passage["title"]) for one in some}
        for query, some in zip(queries, found, strict=True)
    }
    ours, theirs = (
        sum(page in titles.get(query, ()) for page, query in zip(pages, asked, strict=True))
        for asked in (made, own)
    )
    relative = round(ours / theirs, 4) if theirs else None
    return {"plans": len(rows), "by_target": theirs, "by_model": ours, "relative": relative}
