"""A build that is there to be killed: questions, folder, the server's address."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from ras_flow.training.data.subq.build import build_hotpotqa_subq
from ras_flow.training.data.subq.builder import BuildConfig
from tests.training.data.subq.samples import models

if __name__ == "__main__":
    questions, folder, url = sys.argv[1:]
    config = BuildConfig(concurrency=3)
    asyncio.run(build_hotpotqa_subq(Path(questions), Path(folder), models(url), config))
