"""How long the page takes: until a graph is laid out, and for each step through it.

Makes two real five-hop runs, of 200 and of 2,000 triples, serves them as `ras-flow runs view` does,
and opens them in turn in a headless Chromium: a fresh page each time, every step by a key. Needs a
checkout with the `dev` extra, and a Chromium. Run it with:

    python -m benchmarks.page [--rounds 5]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, CDPSession

from ras_flow import Context, build_graph
from ras_flow.parts import Extraction, ScoredPassage
from ras_flow.runs import open_runs
from ras_flow.state.schema import Passage, make_passage
from ras_flow.testing import ScriptedAnswerer, ScriptedPlanner
from tests.page.browser.conftest import launched
from tests.page.server import serving

HOPS, STATED, SIZES = 5, 20, (200, 2_000)
"""Hops of a run, triples of a passage, triples of each run."""

QUESTION = "How are the works of the northern region connected?"

_WATCH = """
    window.busy = [];
    new PerformanceObserver(list => busy.push(...list.getEntries().map(entry => entry.duration)))
        .observe({ type: 'longtask', buffered: true });
    const look = () => {
        const canvas = document.querySelector('.canvas');
        if (canvas?.ariaBusy !== 'false' || !canvas._cyreg.cy.nodes().length)
            return requestAnimationFrame(look);
        canvas._cyreg.cy.one('render', () => (window.laidOut = performance.now()));
    };
    look();
"""
"""Notes long tasks (over 50 ms), and when the graph was first drawn whole."""

_STEP = """async key => {
    const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    const canvas = document.querySelector('.canvas');
    const drawing = canvas._cyreg.cy;
    const button = () => document.querySelector('.timeline [aria-current=step]');
    const [old, began] = [button(), performance.now()];
    let drawn = began;
    const note = () => (drawn = performance.now());
    drawing.on('render', note);
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    while (button() === old) await Promise.resolve();
    await painted();
    const shown = performance.now();
    // Where the graph changed too, it is drawn in the next frame at the latest, or in slices.
    do await painted(); while (canvas.ariaBusy === 'true');
    drawing.off('render', note);
    return Math.max(shown, drawn) - began;
}"""
"""Presses a key; returns the milliseconds until timeline and graph are painted."""

_LOADED = "performance.getEntriesByType('resource').find(e => /api.runs.[^/]+$/.test(e.name))"


class World:
    """Passages whose entities are joined as unevenly as real ones: a retriever and an extractor.

    Args:
        triples: How many they state in all.
    """

    identity = "benchmark"
    batch_size = 16

    def __init__(self, triples: int) -> None:
        chance = random.Random(7)
        kinds = ["Aker Works", "Mira Lund", "Oda"]
        names = [f"{kind} {number}" for number in range(triples) for kind in kinds]
        predicates = ["part of", "located in", "nationality", "founded in", "works with"]
        self._facts: dict[str, list[tuple[str, str, str]]] = {}
        self._passages: list[Passage] = []
        ends = names[:3]
        for number in range(triples // STATED):
            facts = []
            for _ in range(STATED):
                one = other = names[int(len(ends) * 0.33)]
                while other == one:
                    other = chance.choice(ends)
                ends += [one, other]
                facts.append((one, f"{chance.choice(predicates)} {len(ends) // 2}", other))
            title, text = f"Report {number}", " ".join(" ".join(fact) + "." for fact in facts)
            self._passages.append(make_passage(title, text))
            self._facts[title] = facts

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return the next passages."""
        taken, self._passages = self._passages[:k], self._passages[k:]
        return [[ScoredPassage(passage, 1 / rank) for rank, passage in enumerate(taken, 1)]]

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Return what the passages state."""
        return [Extraction(self._facts[passage["title"]]) for passage in passages]


@dataclass
class Measures:
    """What opening one run, and stepping through it, took; milliseconds.

    Attributes:
        loaded: From opening the page until the run's document is there.
        laid_out: From opening the page until its graph is drawn.
        placing: Long tasks until then.
        steps: For each step, from the key until it is painted.
        work: For each step, processor time of the page's main thread.
        stepping: Long tasks while stepping.
    """

    loaded: list[float]
    laid_out: list[float]
    placing: list[float]
    steps: list[float]
    work: list[float]
    stepping: list[float]


async def make_run(folder: Path, triples: int) -> str:
    """Store a finished run of so many triples; return its id."""
    world = World(triples)
    builder = build_graph(
        planner=ScriptedPlanner([f"[SUBQ] What about part {hop}?" for hop in range(HOPS)]),
        retriever=world,
        extractor=world,
        answerer=ScriptedAnswerer("By Oda 0"),
    )
    context = Context(max_hops=HOPS, top_k=triples // STATED // HOPS)
    async with open_runs(folder, builder=builder) as runs:
        run = runs.new_id()
        async for _ in runs.start({"question": QUESTION}, context, run_id=run):
            pass
        made = len((await runs.document(run))["triples"])
    assert made == triples, f"{made} triples, not {triples}"
    return run


async def measure(browser: Browser, link: str, into: Measures) -> None:
    """Open a run and step through it, to its first step and back to its last."""
    context = await browser.new_context(viewport={"width": 1400, "height": 850})
    page = await context.new_page()
    await page.add_init_script(_WATCH)
    meter = await context.new_cdp_session(page)
    await meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    await page.goto(link)
    while not await page.evaluate("window.laidOut"):
        await asyncio.sleep(0.05)
    into.laid_out.append(await page.evaluate("laidOut"))
    into.loaded.append(await page.evaluate(f"{_LOADED}.responseEnd"))
    into.placing += await page.evaluate("busy.splice(0)")
    count = await page.locator(".timeline .step").count()
    for key in ["ArrowLeft", "ArrowRight"]:
        for _ in range(count - 1):
            before = await _worked(meter)
            into.steps.append(await page.evaluate(_STEP, key))
            into.work.append(await _worked(meter) - before)
    into.stepping += await page.evaluate("busy")
    await context.close()


async def _worked(meter: CDPSession) -> float:
    told: dict[str, Any] = await meter.send("Performance.getMetrics")
    return 1000 * next(m["value"] for m in told["metrics"] if m["name"] == "TaskDuration")


def report(small: Measures, large: Measures, rounds: int) -> None:
    """Print the table."""

    def row(name: str, few: float, many: float) -> None:
        ratio = f"{many / few:.1f}" if few else ""
        print(f"| {name} | {few:.0f} | {many:.0f} | {ratio} |")

    print(f"| | {SIZES[0]:,} triples | {SIZES[1]:,} triples | ratio |")
    print("| --- | --- | --- | --- |")
    middle = statistics.median
    row("document there, ms", middle(small.loaded), middle(large.loaded))
    row("graph laid out, ms", middle(small.laid_out), middle(large.laid_out))
    row("step, median ms", middle(small.steps), middle(large.steps))
    row("step, longest ms", max(small.steps), max(large.steps))
    row("step, median ms of CPU", middle(small.work), middle(large.work))
    row("step, most ms of CPU", max(small.work), max(large.work))
    for name, few, many in [
        ("opening", small.placing, large.placing),
        ("stepping", small.stepping, large.stepping),
    ]:
        row(f"long tasks while {name}, a round", len(few) / rounds, len(many) / rounds)
        row(f"longest task while {name}, ms", max(few, default=0), max(many, default=0))


async def main(rounds: int) -> None:
    """Measure both runs in turn and print the table."""
    measures = {size: Measures([], [], [], [], [], []) for size in SIZES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = {size: await make_run(folder, size) for size in SIZES}
        async with open_runs(folder) as runs, serving(runs) as page, launched() as browser:
            print(
                f"{platform.machine()}, {os.cpu_count()} cores, Python "
                f"{platform.python_version()}, Chromium {browser.version}"
            )
            print(f"{rounds} rounds each, in turn; every step back and forth\n")
            for _ in range(rounds):
                for size, run in made.items():
                    await measure(browser, f"{page.link}&run={run}", measures[size])
    report(*measures.values(), rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(main(parser.parse_args().rounds))
