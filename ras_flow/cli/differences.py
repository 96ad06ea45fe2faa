"""A comparison of two branches on a terminal."""

from __future__ import annotations

from rich.console import Console

from ras_flow.cli.render import answer_text, cost_text, counted, line, snippet
from ras_flow.formats.text import plain
from ras_flow.runs.compare import Comparison, Difference, SectionPair, Side
from ras_flow.state.schema import Hop, Plan

_SHOWN = 40
"""Lines of a list that are shown for each side."""

_SIGNS = (("-", "red"), ("+", "green"))
"""How lines of the first and the second side begin, and their style."""


def show_comparison(found: Comparison, console: Console | None = None) -> None:
    """Show a comparison: a minus marks what only the first has, a plus what only the second."""
    console = console or Console(highlight=False)
    for (sign, style), side in zip(_SIGNS, (found["a"], found["b"]), strict=True):
        _side(console, sign, style, side)
    line(console, ("Parting  ", "bold"), _parting(found))
    for setting in found["settings"]:
        values = (_value(setting["a"]), _value(setting["b"]))
        line(console, ("Setting  ", "bold"), plain(f"{setting['name']}: {' → '.join(values)}"))
    for plans in found["plans"]:
        if not plans["same"]:
            name = f"Plan {plans['hop']}   " + f"attempt {plans['attempt'] + 1}" * (
                plans["attempt"] > 0
            )
            _both(console, name, _plan(plans["a"]), _plan(plans["b"]))
    titles = {id: plain(title) or id for id, title in found["titles"].items()}
    for hop in found["hops"]:
        name = f"Hop {hop['index']}    "
        if not hop["same_subquery"]:
            _both(console, name, _subquery(hop["a"]), _subquery(hop["b"]))
        elif _differ(hop["passages"]) or _differ(hop["triples"]):
            line(console, (name, "bold blue"), _subquery(hop["a"]))
        _lists(console, "passage ", hop["passages"], titles)
    for section in found["sections"]:
        line(console, (plain(section["title"]), "bold"))
        _lists(console, "", section)
    facts = {id: plain(" | ".join(fact)) for id, fact in found["facts"].items()}
    both = counted(len(found["triples"]["both"]), "triple")
    line(console, ("Graph    ", "bold magenta"), f"{both} in both")
    _lists(console, "", found["triples"], facts)
    if found["same_answer"]:
        line(console, ("Answer   ", "bold green"), "the same")
        return
    line(console, ("Answer   ", "bold green"), "differs")
    for deciding in found["deciding"]:
        sign, style = _SIGNS[deciding["cited_by"] == "b"]
        id = deciding["triple"]
        line(console, (f"  {sign} ", style), (f"{id}  ", "dim"), facts.get(id, ""))
    line(
        console,
        "           made the difference: one answer rests on them, the other's graph lacks them"
        if found["deciding"]
        else "           no triple that either answer rests on is missing from the other's graph",
    )


def _side(console: Console, sign: str, style: str, side: Side) -> None:
    spent = side["spent"]
    outcome = side["stop_reason"] or side["status"]
    name = plain(f"{side['run']}/{side['branch']}")
    line(
        console,
        (f"{sign} {name}  ", style),
        (answer_text(side["answer"], supported=side["supported"]) or "(no answer)", "bold"),
        f"  {outcome}  {cost_text(spent)}",
    )


def _parting(found: Comparison) -> str:
    parting = found["parting"]
    if parting["what"] is None:
        where = "nowhere"
    elif parting["what"] == "question":
        where = "two questions"
    else:
        hop = "" if parting["hop"] is None else f" of hop {parting['hop']}"
        where = f"first in the {parting['what']}{hop}"
    return where if parting["step"] is None else f"{where}; shared up to step {parting['step']}"


def _both(console: Console, name: str, a: str, b: str) -> None:
    line(console, (name, "bold cyan"))
    for (sign, style), text in zip(_SIGNS, (a, b), strict=True):
        line(console, (f"  {sign} ", style), text)


def _lists(
    console: Console,
    what: str,
    found: Difference | SectionPair,
    names: dict[str, str] | None = None,
) -> None:
    """Show what each side has alone: texts, or with ``names`` ids and what they name."""
    for (sign, style), items in zip(_SIGNS, (found["only_a"], found["only_b"]), strict=True):
        for item in items[:_SHOWN]:
            label = (f"  {sign} {what}", style)
            if names is None:
                line(console, label, plain(item))
            else:
                line(console, label, (f"{item}  ", "dim"), names.get(item, ""))
        if len(items) > _SHOWN:
            line(console, (f"  {sign} and {len(items) - _SHOWN} more", style))


def _plan(plan: Plan | None) -> str:
    if plan is None:
        return "(none)"
    return (
        plain(f"[{plan['label']}] {plan['subquery']}")
        if plan["label"] is not None
        else f"not usable: {snippet(plan['raw'])}"
    )


def _subquery(hop: Hop | None) -> str:
    return "(none)" if hop is None else plain(hop["subquery"])


def _differ(found: Difference) -> bool:
    return bool(found["only_a"] or found["only_b"])


def _value(value: object) -> str:
    return "(default)" if value is None else str(value)
