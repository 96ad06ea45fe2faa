"""A branch of a run on a terminal: numbered steps, outcome, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ras_flow.cli.render import (
    Styled,
    answer_text,
    cost_text,
    counted,
    fact_text,
    line,
    reason_text,
    show_answer,
    show_citations,
    show_section,
    snippet,
)
from ras_flow.cli.runs.edits import Operations, option_text
from ras_flow.formats.text import plain
from ras_flow.runs.commands import command
from ras_flow.runs.document import Branch, RunDocument, Step
from ras_flow.runs.reading import address_of, spent, step_name, steps_of
from ras_flow.state.schema import Hop, Passage, Plan, Triple, name_passages
from ras_flow.systems import DEFAULT, Section


class Timeline:
    """Shows one branch of a run."""

    def __init__(
        self, document: RunDocument, branch: Branch, console: Console | None = None
    ) -> None:
        self._document, self._branch = document, branch
        self._console = console or Console(highlight=False)

    def show(self) -> None:
        """Show all of it: answer, steps, the answer again, and the run's other branches."""
        self._head()
        self._answer()
        self._steps()
        if self._branch["status"] != "paused":
            self._sections(told=True)
        self.outcome()
        self._others()

    def steps(self) -> None:
        """Show the question, the settings and every step."""
        self._head()
        self._steps()

    def _head(self) -> None:
        document, branch = self._document, self._branch
        count = len(document["branches"])
        of = f", branch {branch['number']} of {count}" if count > 1 else ""
        system = document["system"]["name"]
        by = f" by {plain(system)}" * (system != DEFAULT)
        self._line((f"run {plain(document['run'])}{of}{by}, {document['started']}", "dim"))
        self._line(("Question ", "bold"), plain(branch["question"]))
        if branch["settings"]:
            settings = ", ".join(f"{name}={value}" for name, value in branch["settings"].items())
            self._line(("Settings ", "bold"), plain(settings))

    def _steps(self) -> None:
        document, branch = self._document, self._branch
        fork = branch["forked_from"]
        for number, step in enumerate(steps_of(document, branch)):
            self._step(number, step)
            if fork is not None and number == fork["step"]:
                self._line((f"  ── from here on branch {branch['number']} ──", "yellow"))

    def outcome(self, clock: float | None = None) -> None:
        """Show the cost and then the answer with what it rests on, or how to get to one."""
        for warning in self._branch["warnings"]:
            self._line(("Warning  ", "bold yellow"), plain(warning))
        cost = cost_text(spent(self._document, self._branch), clock)
        self._line(("Cost     ", "dim"), cost)
        self._answer()
        self._left()

    def _answer(self) -> None:
        branch, reason = self._branch, self._branch["stop_reason"]
        if reason is not None:
            meaning = self._document["system"]["stop_reasons"].get(reason, "")
            show_answer(self._console, branch)
            self._line("         ", reason_text(reason, meaning))
            show_citations(self._console, branch)

    def _left(self) -> None:
        document, branch = self._document, self._branch
        run = address_of(document, branch)
        last = document["steps"][branch["steps"][-1]]
        if branch["status"] == "paused" and last["review"] is not None:
            self._sections()
            operations = document["system"]["operations"]
            show_review(self._console, run, last["review"], operations, document["passages"])
        elif branch["status"] == "unfinished":
            then = f"; next: {', '.join(last['next'])}" if last["next"] else ""
            self._line(plain(f"Unfinished{then}. Go on with: {command('resume', run)}"))

    def _sections(self, *, told: bool = False) -> None:
        """Show what the system adds; with ``told``, not what a step has shown word for word."""
        steps = [self._document["steps"][one] for one in self._branch["steps"] if told]
        shown = [section for step in steps for section in step["sections"]]
        for section in self._branch["sections"]:
            if section not in shown:
                show_section(self._console, Section(**section))

    def _others(self) -> None:
        if len(self._document["branches"]) == 1:
            return
        self._line(("Branches", "bold"))
        for branch in self._document["branches"]:
            fork = branch["forked_from"]
            origin = f"  from {fork['branch']} after step {fork['step']}" if fork else ""
            outcome = branch["stop_reason"] or branch["status"]
            mark = "*" if branch["number"] == self._branch["number"] else " "
            self._line(
                f" {mark} {branch['number']}  {outcome}  ",
                (answer_text(branch["answer"], supported=branch["supported"]), "green"),
                (origin, "dim"),
            )

    def _step(self, number: int, step: Step) -> None:
        cost = _cost(step)
        name = Text.assemble((f"{number:3}  ", "dim"), (f"{step_name(step):16}", "bold cyan"))
        self._console.print(name.append(cost, "dim") if cost else name, soft_wrap=True)
        if step["plan"] is not None:
            self._plan(step["plan"])
        if step["passages"]:
            self._passages(step)
        for hop in self._branch["hops"]:
            if step_name(step) != f"retrieve:{hop['index']}":
                continue
            if known := hop.get("known"):
                self._line(f"       not again: {counted(known, 'passage')} that the run has read")
            if weak := hop.get("weak"):
                self._line(f"       not read: {counted(weak, 'passage')} far below the best")
        for sign, style, ids in (("+", "green", step["added"]), ("-", "red", step["removed"])):
            for id in ids:
                fact = self._fact(self._document["triples"][id])
                self._line(f"     {sign} ", (f"{id}  ", "dim"), (fact, style))
        for section in step["sections"]:
            label = f"     {plain(section['title'])}  "
            for number, text in enumerate(section["lines"]):
                self._line((" " * len(label) if number else label, "dim"), plain(text))

    def _plan(self, plan: Plan) -> None:
        problem = plan.get("problem") or plan.get("error")
        if plan["label"] is None:
            self._line("       ", ("not usable: ", "red"), plain(problem or ""))
        else:
            self._line(f"       [{plan['label']}] ", plain(plan["subquery"]))
        wrote = plain(plan["raw"])
        if wrote not in (f"[{plan['label']}]", f"[{plan['label']}] {plain(plan['subquery'])}"):
            self._line("       ", (f"the planner wrote: {snippet(plan['raw'])}", "dim"))

    def _passages(self, step: Step) -> None:
        # A step without a hop has the given documents, or did everything at once.
        hops = [hop for hop in self._branch["hops"] if step["hop"] in (None, hop["index"])]
        for id in step["passages"]:
            passage = self._document["passages"][id]
            self._line(
                (f"     {_rank(hops, id):>7}  {id}  ", "dim"),
                (plain(passage["title"] or passage.get("source", "")), "bold"),
                f"  {snippet(passage['text'])}",
            )

    def _fact(self, triple: Triple) -> str:
        # Someone who edits a checkpoint may name unknown passages.
        known = self._document["passages"]
        where = name_passages((id for id in triple["passages"] if id in known), known)
        return plain(f"{fact_text(triple)}  [{where}]")

    def _line(self, *pieces: Styled) -> None:
        line(self._console, *pieces)


_ASKED = {
    "after_link": "before it searches: are these the question's entities?",
    "before_retrieval": "before it searches: is this the right subquery?",
    "after_merge": "after the merge: is the graph right?",
    "before_answer": "before it answers: is the graph complete?",
}


def show_review(
    console: Console,
    run: str,
    review: dict[str, Any],
    operations: Operations,
    passages: Mapping[str, Passage],
) -> None:
    """Show what a run asks a person; ``operations`` are its edits with their fields."""
    asked = _ASKED.get(review.get("point", ""), plain(str(review.get("point", ""))))
    line(console, ("Waits    ", "bold yellow"), asked)
    if review.get("problem"):
        line(console, ("         ", ""), (plain(str(review["problem"])), "red"))
    if review.get("subquery"):
        line(console, ("Subquery ", "bold"), plain(str(review["subquery"])))
    for id, triple in (review.get("triples") or {}).items():
        line(console, (f"  {plain(id)}  ", "dim"), fact_text(triple))
    allowed = review.get("allowed") or operations
    for id in review.get("passages") or [] if "drop_passage" in allowed else []:
        line(console, (f"  {plain(id)}  ", "dim"), plain(f"[{name_passages([id], passages)}]"))
    options = ", ".join(option_text(str(op), operations) for op in allowed)
    line(
        console,
        plain(
            f"Go on with: {command('resume', run, options=['--approve'])}, or in its place any of "
            f"{options}"
        ),
    )


def _cost(step: Step) -> str:
    usage = step["usage"]
    if usage is None:
        return ""
    tokens = f"{usage['input_tokens']} + {usage['output_tokens']} tokens, " * bool(usage["calls"])
    return f"{tokens}{usage['seconds']:.2f} s"


def _rank(hops: Sequence[Hop], passage: str) -> str:
    for hop in hops:
        if passage in hop["passages"]:
            return f"{hop['passages'].index(passage) + 1}."
    return "dropped"  # later, by an edit
