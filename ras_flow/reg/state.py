"""What ReG keeps of a run, and returns of it."""

from __future__ import annotations

from typing import Annotated

from ras_flow.state.channels import RasOutput, RunState
from ras_flow.state.reducers import last
from ras_flow.state.schema import Entity


class RegState(RunState):
    """What ReG keeps of a run.

    ``entities`` are those of the question; ``answers`` the members of the answer, which is a set.
    Its chains are computed from the triples.
    """

    entities: Annotated[list[Entity], last(list[Entity])]
    answers: Annotated[list[str], last(list[str])]


class RegOutput(RasOutput):
    """What a finished run returns: beside what all systems do, its entities and answers."""

    entities: list[Entity]
    answers: list[str]
