"""What tests of runs share."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver


@pytest.fixture
def memory() -> InMemorySaver:
    """The checkpointer of tests whose rule does not depend on it."""
    return InMemorySaver()
