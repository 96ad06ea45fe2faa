"""The tree of a run's checkpoints as its branches: ways from the question to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ras_flow.errors import RunError
from ras_flow.runs.commands import command
from ras_flow.runs.document import ForkPoint
from ras_flow.runs.threads import Saved, Threads


@dataclass(frozen=True)
class StoredBranch:
    """A branch as checkpoints: from the question on, those it shares included; never empty."""

    number: int
    forked_from: ForkPoint | None
    steps: list[Saved]


def find_branches(history: Sequence[Saved]) -> list[StoredBranch]:
    """Find the branches of the question that the run's newest checkpoint belongs to.

    A branch ends where nothing follows: where the run was over, where it stopped or waits, and
    where only edits follow, since an edit begins a branch of its own. A replay begins one too,
    except that of a step where the run had stopped: there the run goes on.
    """
    tree = _Tree(history)
    firsts = tree.path(history[-1])[:1]
    own: list[list[Saved]] = []
    for first in firsts:
        steps = [first]
        while True:
            children = tree.children.get(steps[-1].checkpoint, [])
            follows = _continues(steps[-1], children)
            firsts += [child for child in children if child is not follows]
            if follows is None:
                break
            steps.append(follows)
        own.append(steps)
    own.sort(key=lambda steps: tree.begun(steps[0]))
    number_of = {step.checkpoint: number for number, steps in enumerate(own, 1) for step in steps}
    branches = []
    for number, steps in enumerate(own, 1):
        shared = tree.path(steps[0])[:-1]
        left = (
            ForkPoint(branch=number_of[shared[-1].checkpoint], step=len(shared) - 1)
            if shared
            else None
        )
        branches.append(StoredBranch(number, left, shared + steps))
    return branches


async def check_not_gone_on(
    threads: Threads, run_id: str, seen: str, checkpoint: str | None
) -> None:
    """Refuse to go on with a branch from a step that another one followed meanwhile."""
    if checkpoint is None:
        newest = await threads.state(run_id)
        ends = [newest.checkpoint] if newest else []
    else:
        history = await threads.history(run_id)
        ends = [branch.steps[-1].checkpoint for branch in find_branches(history)] if history else []
    if seen not in ends:
        raise RunError(
            f"Run {run_id} has gone on elsewhere meanwhile. Look at it again, with: "
            f"{command('show', run_id)}"
        )


def _continues(step: Saved, children: list[Saved]) -> Saved | None:
    """Return the child that is on the same branch."""
    return next((child for child in children if step.next and child.source != "update"), None)


class _Tree:
    """Checkpoints by id, and which came of which."""

    def __init__(self, history: Sequence[Saved]) -> None:
        self._saved = {saved.checkpoint: saved for saved in history}
        self.children: dict[str, list[Saved]] = {}
        # Edits are made on copies, which do not count as steps. The copy of a finished run may
        # never get its edit, if the process that made it was killed.
        copies = {saved.parent for saved in history if saved.forked_from in self._saved}
        copies |= {
            saved.checkpoint for saved in history if saved.source == "fork" and not saved.next
        }
        for saved in history:
            before = self.before(saved)
            if before is not None and saved.checkpoint not in copies:
                self.children.setdefault(before.checkpoint, []).append(saved)

    def before(self, saved: Saved) -> Saved | None:
        """Return the checkpoint that this one came of; None for a question."""
        parent = self._saved.get(saved.forked_from or "") or self._saved.get(saved.parent or "")
        if parent is None or saved.source in ("input", None):
            return None
        # A question's input, its acceptance, and what followed it all at once are one step.
        asks = parent.source in ("input", None) or parent.next in ((), ("__start__",))
        return None if saved.source == "loop" and asks else parent

    def begun(self, saved: Saved) -> str:
        """Return by what a branch is numbered: a checkpoint that it keeps when others are made.

        Until a copy has its edit, the copy is a branch; the edit takes its number over.
        """
        copy = self._saved.get(saved.parent or "") if saved.forked_from else None
        return copy.checkpoint if copy and copy.next else saved.checkpoint

    def path(self, saved: Saved) -> list[Saved]:
        """Return the checkpoints from the question to this one."""
        path = [saved]
        while (before := self.before(path[-1])) is not None:
            path.append(before)
        return path[::-1]
