"""Progress events on a terminal. Documents and model output are shown as text, never as markup."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

from rich.console import Console
from rich.status import Status
from rich.text import Text
from rich.tree import Tree

from ras_flow.events import Event, GraphEvent, GraphTriple, PassagesEvent, PlanEvent
from ras_flow.formats.answer import says_unknown
from ras_flow.formats.text import plain
from ras_flow.state.schema import Spent, citation_text
from ras_flow.systems import Section

GROWN = 20
"""New triples of a hop that are shown."""

SNIPPET = 160
"""Characters of a passage that are shown."""

Styled = str | tuple[str, str]
"""A text, or a text and its style."""


def reason_text(reason: str, meaning: str) -> str:
    """Return a stop reason, followed by its meaning if its system gives one."""
    return plain(f"{reason}: {meaning}" if meaning else reason)


def snippet(text: str) -> str:
    """Return the beginning of a text, on one line."""
    whole = plain(text)
    return whole if len(whole) <= SNIPPET else whole[:SNIPPET].rstrip() + "…"


def line(console: Console, *pieces: Styled) -> None:
    """Print one line of pieces, each with a style or without; markup in them is only text."""
    console.print(Text.assemble(*pieces), soft_wrap=True)


def fact_text(triple: Any) -> str:
    """Return a triple as it can be given to ``--add-triple``."""
    return plain(f"{triple['subject']} | {triple['predicate']} | {triple['object']}")


def counted(number: int, thing: str, things: str = "") -> str:
    """Say how many: ``1 call``, ``2 calls``."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def cost_text(cost: Spent, clock: float | None = None) -> str:
    """Say what a run cost; without the ``clock``, the time is the seconds of work."""
    seconds = f"{cost['seconds']:.1f} s of work" if clock is None else f"{clock:.1f} s"
    cached = f" ({found} of them cached)" if (found := cost.get("cached_tokens")) else ""
    return (
        f"{counted(cost['calls'], 'model call')}, "
        f"{counted(cost['input_tokens'], 'token')} read{cached}, "
        f"{cost['output_tokens']} written, {seconds}"
    )


class Screen:
    """Shows the events of one run as they come; as a context manager, leaves the terminal tidy."""

    def __init__(
        self,
        *,
        quiet: bool = False,
        console: Console | None = None,
        tells: Mapping[str, Callable[[Any], Section]] = MappingProxyType({}),
    ) -> None:
        self.console = console or Console(quiet=quiet, highlight=False)
        self._tells = tells
        self._status: Status | None = None

    def __enter__(self) -> Self:
        """Do nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the waiting sign."""
        self.stop()

    def run(self, run_id: str) -> None:
        """Say which run begins, so that it can be found again."""
        self.console.print(Text(f"run {run_id}", style="dim"))
        self._wait("loading models")

    def show(self, event: Event) -> None:
        """Show one event."""
        self.stop()
        if tell := self._tells.get(event["type"]):
            show_section(self.console, tell(event))
            return
        match event["type"]:
            case "start":
                self._line("Question ", "bold", event["question"])
                self._wait("planning")
            case "plan":
                self._plan(event)
            case "passages":
                self._passages(event)
                self._wait("extracting triples")
            case "extracted":
                reasons = ", ".join(f"{n} {reason}" for reason, n in event["reasons"].items())
                self._line(
                    "Triples  ",
                    "bold magenta",
                    f"{event['triples']} from {counted(event['passages'], 'passage')}"
                    + (f", {event['cached']} of them known before" if event["cached"] else "")
                    + (f", {event['dropped']} dropped: {reasons}" if reasons else ""),
                )
            case "graph":
                self._grow(event)
                self._wait("planning")
            case "encoded" | "forked" | "review" | "warning" | "answer":
                pass  # The outcome, which is shown at the end, has the last three.
            case _:
                self._unknown(event)

    def stop(self) -> None:
        """Stop the waiting sign."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _wait(self, what: str) -> None:
        if self.console.is_terminal and not self.console.quiet:
            self._status = self.console.status(what)
            self._status.start()

    def _line(self, label: str, style: str, text: str) -> None:
        line(self.console, (label, style), plain(text))

    def _plan(self, event: PlanEvent) -> None:
        if event["label"] is None:
            self._line("Plan     ", "bold red", f"not usable: {event.get('problem', '')}")
            self._line("         ", "", f"the planner wrote: {snippet(event['raw'])}")
        else:
            self._line("Plan     ", "bold cyan", f"[{event['label']}] {event['subquery']}")
        self._wait("working")

    def _passages(self, event: PassagesEvent) -> None:
        self._line(f"Hop {event['hop']}    ", "bold blue", event["subquery"])
        for rank, passage in enumerate(event["passages"], start=1):
            line(
                self.console,
                (f"  {rank}. ", "dim"),
                (plain(passage["name"]), "bold"),
                f"  {snippet(passage['text'])}",
            )

    def _grow(self, event: GraphEvent) -> None:
        entities = counted(event["entities"], "entity", "entities")
        triples = counted(event["triples"], "triple")
        self._line("Graph    ", "bold magenta", f"{entities}, {triples}")
        for triple in event["new"][:GROWN]:
            line(self.console, (f"  + {fact_text(triple)}", "green"))
        if rest := event["new"][GROWN:]:
            self._line("    ", "", f"and {len(rest)} more, which `ras-flow runs show` lists")

    def _unknown(self, event: Mapping[str, Any]) -> None:
        """Show an event for which the system gives no form of its own."""
        fields = {name: value for name, value in event.items() if name != "type"}
        said = ", ".join(f"{name}: {value}" for name, value in fields.items())
        self._line(f"{plain(event['type'].capitalize()):8} ", "bold", snippet(said))


def show_section(console: Console, section: Section) -> None:
    """Show what a system adds to a run."""
    for number, text in enumerate(section.lines):
        label = f"{plain(section.title):8} " if not number else " " * 9
        line(console, (label, "bold"), plain(text))


def show_answer(console: Console, said: Mapping[str, Any]) -> None:
    """Show an answer and, if it is not supported, why not."""
    style = "bold green" if said["supported"] else "bold yellow"
    line(console, ("Answer   ", style), plain(said["answer"]) or "(none)")
    if not said["supported"]:
        why = plain(said["support"]) or "this system does not check its answers"
        about = "" if says_unknown(said["answer"]) else "not supported by the documents: "
        line(console, "         ", (f"{about}{why}", "yellow"))


def show_citations(console: Console, said: Mapping[str, Any]) -> None:
    """Show what an answer rests on; for an unsupported one, what comes nearest."""
    label = "  cites  " if said["supported"] else "  nearest "
    for citation in said["citations"]:
        line(console, (label, "dim"), plain(citation_text(citation)))


def answer_text(answer: str, *, supported: bool) -> str:
    """Return the beginning of an answer for a list; an unsupported one is marked as such."""
    doubted = answer and not supported and not says_unknown(answer)
    return f"(not supported) {snippet(answer)}" if doubted else snippet(answer)


def graph_tree(
    title: str,
    triples: Sequence[GraphTriple],
    new: Collection[str],
    *,
    cited: Collection[str],
) -> Tree:
    """Draw a graph as a tree: subjects, with a branch for each triple and its id."""
    tree = Tree(Text(title, style="bold magenta"))
    branches: dict[str, Tree] = {}
    for triple in triples:
        subject = plain(triple["subject"])
        if subject not in branches:
            branches[subject] = tree.add(Text(subject, style="bold"))
        fact = f"{plain(triple['predicate'])} → {plain(triple['object'])}"
        marks = "+" * (triple["id"] in new) + "*" * (triple["id"] in cited)
        style = "green" if triple["id"] in new else ""
        id = (f"  {triple['id']}", "dim")
        branches[subject].add(Text.assemble((f"{marks:1} {fact}", style), id))
    return tree
