"""What the process that tests fork commands from has imported."""

from __future__ import annotations

import bm25s  # noqa: F401
import langchain.chat_models  # noqa: F401
import langchain_openai  # noqa: F401
import openai.resources.chat  # noqa: F401

import ras_flow.cli.commands
import ras_flow.cli.progress
import ras_flow.cli.render
import ras_flow.runs  # noqa: F401
from tests.runs import killed  # noqa: F401
