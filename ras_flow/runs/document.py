"""A run as one JSON document: every branch, every step, and what each step changed.

It is what the page shows, what comparisons and exports read, and what ``runs show --json`` prints.
Triples and passages are in it once; a step names what it added and removed.
"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from ras_flow.state.schema import Citation, Hop, Passage, Plan, Triple, Usage

FORMAT = 1
"""The version of the document; raised when a reader of the old one would be misled."""

Status = Literal["finished", "paused", "unfinished"]
"""``paused``: it waits for a person; ``unfinished``: it was killed, failed, or is at work."""


class ShownSection(TypedDict):
    """What a system adds to what people are shown of a branch: a heading, and lines of text."""

    title: str
    lines: list[str]


class Step(TypedDict):
    """One checkpoint: the state after a node, an edit, or the beginning of a replay.

    Attributes:
        parent: The checkpoint before it; None for the question itself.
        kind: How it came to be: the question was asked, a node ran, a person edited, or the step
            before was taken up again.
        node: The node that ran; ``""`` for other kinds.
        hop: The hop that the node worked on; None where it has none, as for ``start``.
        time: When it was written, ISO 8601, UTC.
        usage: What the node cost; None where nothing was counted.
        next: The nodes that follow; empty when the run was over.
        plan: The plan that the step made or changed.
        passages: Ids of the passages that the step brought, in the order of their rank.
        added: Ids of the triples that the step added to the graph.
        sections: What is new in what its system adds.
        review: What a person is asked here, if the run waits for one.
    """

    checkpoint: str
    parent: str | None
    kind: Literal["question", "node", "edit", "replay"]
    node: str
    hop: int | None
    time: str
    usage: Usage | None
    next: list[str]
    plan: Plan | None
    passages: list[str]
    added: list[str]
    removed: list[str]
    sections: list[ShownSection]
    review: dict[str, Any] | None


class SystemInfo(TypedDict):
    """What readers of a run need to know of its system.

    Attributes:
        roles: The roles whose model an edit may replace.
        edits: By the node that comes next, ``""`` at the end: the edits (by ``op``) that make
            sense there.
        operations: The fields of its edits by ``op``.
    """

    name: str
    roles: list[str]
    stop_reasons: dict[str, str]
    edits: dict[str, list[str]]
    operations: dict[str, list[str]]


class ForkPoint(TypedDict):
    """Where a branch left another one: after its step number ``step``."""

    branch: int
    step: int


class Branch(TypedDict):
    """One way from the question to an answer.

    Attributes:
        number: 1 for the run as it first went; later ones in the order in which they were made.
        forked_from: Where it left another branch; None for the first.
        question: The question, which an edit of its first steps may have changed.
        steps: Its checkpoints from the question on, those shared with other branches included.
        stop_reason: Why it answered; None until then. "finished" where its system does not say.
        answer: Empty until then.
        supported: Whether the documents support the answer.
        support: Why, or why not; empty until then, and where its system does not say.
        hop_triples: For each hop, the ids of its triples g_i in the final graph.
        stated_in: For each triple of the final graph, the ids of the passages that state it there:
            in another branch there may be others.
        settings: The fields of its Context that differ from the defaults.
        open: What is asked and not known, with ``?name`` for variables.
        sections: What its system adds to what people are shown.
        own: Channels that its system alone has.
    """

    number: int
    forked_from: ForkPoint | None
    question: str
    steps: list[str]
    status: Status
    stop_reason: str | None
    answer: str
    citations: list[Citation]
    supported: bool
    support: str
    hops: list[Hop]
    plans: list[Plan]
    hop_triples: list[list[str]]
    stated_in: dict[str, list[str]]
    warnings: list[str]
    settings: dict[str, Any]
    open: list[tuple[str, str, str]]
    sections: list[ShownSection]
    own: dict[str, Any]


class RunDocument(TypedDict):
    """A run with all its branches.

    Attributes:
        format: :data:`FORMAT`.
        question: The question of the current branch.
        started: When it was asked, ISO 8601, UTC.
        current: The number of the branch that the run's state is on, the newest one.
        steps: Every step by checkpoint id.
        passages: Every passage by id.
        triples: Every triple that any branch ever had by id, with the passages of all branches.
        edges: The nodes of each triple by id: keys of subject and object.
        entities: The spelling of each node by its key.
        evidence: For each triple and passage of it, where the passage states it: the first and
            the last-plus-one character of the sentence in the passage's text.
    """

    format: int
    run: str
    system: SystemInfo
    question: str
    started: str
    current: int
    branches: list[Branch]
    steps: dict[str, Step]
    passages: dict[str, Passage]
    triples: dict[str, Triple]
    edges: dict[str, tuple[str, str]]
    entities: dict[str, str]
    evidence: dict[str, dict[str, tuple[int, int]]]
