"""``python -m recipes convert``: a mix, with the attempts of a base model where one is named."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path

from ras_flow.errors import ModelResponseError
from ras_flow.formats.normalize import normalize_question
from ras_flow.parts.prompted import PromptedAnswerer
from ras_flow.parts.protocols import LanguageModel
from ras_flow.support.concurrency import in_order
from ras_flow.training.data.attempts import knows
from ras_flow.training.data.calls import LoggedModel, StepUsage, open_log
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.writer import Progress, check_folder, own_set
from ras_flow.training.splits import SPLITS
from recipes.graph_llm.case import Case
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import Inputs, read_inputs
from recipes.graph_llm.mix import write_mix
from recipes.graph_llm.threads import in_thread

CONCURRENCY = 16


async def convert_mix(
    config: MixConfig,
    folder: Path,
    base_model: LanguageModel | None = None,
    progress: Progress | None = None,
) -> Stats:
    """Convert a mix."""
    check_folder(folder)
    inputs = await in_thread(read_inputs, config, progress=progress)
    known: dict[Asked, bool] = {}
    usage: Mapping[str, StepUsage] = {}
    if base_model is not None:
        with own_set(folder):
            async with open_log(folder) as log:
                answerer = PromptedAnswerer(LoggedModel(base_model, log, "attempt"))
                known, rejected = await _attempt(inputs, answerer, progress)
            usage = log.usage
            if rejected and not usage:
                raise rejected

    def told(case: Case) -> bool | None:
        return None if case.static else known.get(_asked(case))

    return await in_thread(
        write_mix,
        config,
        folder,
        inputs,
        known=told,
        usage={step: asdict(used) for step, used in usage.items()},
        progress=progress,
    )


Asked = tuple[str, str, str]
"""A question with its answer and the task's wording: sources may have others for one question."""


def _asked(case: Case) -> Asked:
    return normalize_question(case.question), case.answer, case.instruction


async def _attempt(
    inputs: Inputs, answerer: PromptedAnswerer, progress: Progress | None
) -> tuple[dict[Asked, bool], ModelResponseError | None]:
    """Try each question once, some at a time; also return an error if a request was rejected."""
    cases = {
        _asked(case): case
        for source in inputs.cases
        for split in SPLITS
        for case in source[split]
        if not case.static
    }
    known: dict[Asked, bool] = {}
    rejected: ModelResponseError | None = None

    async def attempt(asked: Asked) -> bool:
        nonlocal rejected
        try:
            case = cases[asked]
            if case.guessable:  # That a model says "yes" proves nothing.
                return False
            return await knows(
                answerer,
                case.question,
                case.answer,
                instruction=case.instruction,
                variants=case.variants,
            )
        except ModelResponseError as error:
            rejected = error
            return False

    async with aclosing(in_order(attempt, cases, CONCURRENCY)) as attempts:
        async for asked, result in attempts:
            known[asked] = result
            if progress:
                progress("attempting without retrieval", len(known), len(cases))
    return known, rejected
