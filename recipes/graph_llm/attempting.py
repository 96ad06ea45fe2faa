"""Which training questions a base model answers without a search: [NO_RETRIEVAL] (algorithm 1)."""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path

from ras_flow.formats.normalize import normalize_question
from ras_flow.parts.prompted import PromptedAnswerer
from ras_flow.parts.protocols import LanguageModel
from ras_flow.support.concurrency import in_order
from ras_flow.support.files import write_whole
from ras_flow.training.data.calls import LoggedModel, open_log
from ras_flow.training.data.subq.builder import knows
from ras_flow.training.data.writer import Progress
from ras_flow.training.splits import fraction
from recipes.graph_llm.case import Case
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import read_inputs
from recipes.graph_llm.threads import in_thread

AT_ONCE = 16


async def attempt(
    config: MixConfig,
    model: LanguageModel,
    folder: Path,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Write the questions that a model answers by itself; return how many, and of how many.

    Closed sets, whose answers are often right by chance, are not asked.
    """
    inputs = await in_thread(read_inputs, config, progress=progress)
    cases = {
        normalize_question(case.question): case
        for source in inputs.cases
        for case in source["train"]
        if case.answer and case.steps and not case.instruction
    }
    asked = sorted(cases.values(), key=lambda one: fraction(config.seed, "attempt", one.question))
    asked, known, done = asked[:limit], [], 0
    async with open_log(folder) as log:
        base = PromptedAnswerer(LoggedModel(model, log, "attempt"))

        async def right(case: Case) -> bool:
            return await knows(case.question, case.answer, base)

        async with aclosing(in_order(right, asked, AT_ONCE)) as ended:
            async for case, is_right in ended:
                known += [case.question] if is_right else []
                done += 1
                if progress:
                    progress("asking", done, len(asked))
    lines = [json.dumps({"question": question}, ensure_ascii=False) + "\n" for question in known]
    write_whole(folder / "known.jsonl", "".join(lines))
    return len(known), len(asked)
