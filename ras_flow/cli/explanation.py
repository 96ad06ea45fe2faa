"""The triples and passages under an answer, on a terminal."""

from __future__ import annotations

from rich.console import Console

from ras_flow.cli.render import fact_text, line, reason_text, show_answer, show_section
from ras_flow.formats.text import plain
from ras_flow.runs.why import Explanation, Source
from ras_flow.systems import Section


def show_explanation(found: Explanation, console: Console | None = None) -> None:
    """Show what an answer rests on."""
    console = console or Console(highlight=False)
    line(console, ("Question ", "bold"), plain(found["question"]))
    show_answer(console, found)
    line(console, "         ", reason_text(found["stop_reason"] or "", found["stop_meaning"]))
    cited = bool(found["triples"] or found["passages"])
    if cited and not found["supported"]:
        line(console, ("Nearest  ", "bold magenta"), "what comes nearest to supporting it")
    for id, ground in found["triples"].items():
        mark = "  edited by hand" * ground["edited"]
        score = f"  {ground['score']:.2f}" if "score" in ground else ""
        line(console, (f"  {id}  ", "dim"), fact_text(ground), (mark, "yellow"), (score, "dim"))
        for source in ground["sources"]:
            _show_source(console, source)
    if found["passages"]:
        line(console, ("Passages ", "bold magenta"), "cited as they are, without triples")
    for source in found["passages"]:
        _show_source(console, source)
    for section in found["sections"]:
        show_section(console, Section(**section))


def _show_source(console: Console, source: Source) -> None:
    sentence = f": {plain(source['sentence'])}" if source["sentence"] else ""
    line(console, "    ", (plain(source["title"]) or source["passage"], "bold"), sentence)
    line(console, (f"    found in hop {source['hop']}: ", "dim"), plain(source["subquery"]))
