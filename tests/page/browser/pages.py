"""What the browser tests ask of an open page."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from playwright.async_api import Page, expect

RUN = "run=a71c0ffee001"

_CY = "document.querySelectorAll('.canvas')[{at}]._cyreg.cy"


async def drawn(page: Page, entities: int = 1) -> None:
    """Wait until the graph is drawn whole, with at least so many entities."""
    await expect(page.locator(".canvas").first).to_be_visible()
    ready = f"""[...document.querySelectorAll('.canvas')]
        .every(c => c.ariaBusy === 'false' && c._cyreg.cy.nodes().length >= {entities})"""
    await until(page, ready)


async def until(page: Page, expression: str) -> None:
    """Wait until an expression is true; Playwright's own waiting evaluates text in the page, which
    the page's policy forbids."""
    async with asyncio.timeout(120):
        while not await page.evaluate(expression):
            await asyncio.sleep(0.02)


async def places(page: Page) -> dict[str, Any]:
    """Return where each entity is on the plane, hidden ones included."""
    return await _of_nodes(page, "n.position()")


async def positions(page: Page) -> dict[str, Any]:
    """Return where each entity is in the window, hidden ones included."""
    return await _of_nodes(page, "n.renderedPosition()")


async def _of_nodes(page: Page, what: str) -> dict[str, Any]:
    script = f"Object.fromEntries({_CY.format(at=0)}.nodes().map(n => [n.id(), {what}]))"
    return cast(dict[str, Any], await page.evaluate(script))


async def shown(page: Page, *marks: str, at: int = 0) -> set[str]:
    """Return the names of the shown edges, those with these marks, without their signs."""
    selector = "edge" + "".join(f".{mark}" for mark in marks)
    script = f"{_CY.format(at=at)}.edges({selector!r}).not('.hidden').map(e => e.data('name'))"
    return set(await page.evaluate(script))


async def labels(page: Page, mark: str) -> list[str]:
    """Return the drawn labels of the edges with a mark."""
    return list(
        await page.evaluate(f"{_CY.format(at=0)}.edges('.{mark}').map(e => e.data('label'))")
    )


async def click_edge(page: Page, name: str) -> None:
    """Click the middle of a drawn edge with the mouse, until the panel tells of its triple.

    While the page's layout changes, the drawing is for some tens of milliseconds not where it
    will be: whoever misses clicks again.
    """
    script = f"""() => {{
        const cy = {_CY.format(at=0)};
        const edge = cy.edges().not('.hidden').filter(e => e.data('name') === {name!r})[0];
        const box = cy.container().getBoundingClientRect();
        const middle = edge.renderedMidpoint();
        return [box.x + middle.x, box.y + middle.y];
    }}"""
    told = page.locator(".lineage .headline").filter(has_text=name)
    async with asyncio.timeout(60):
        while not await told.is_visible():
            x, y = await page.evaluate(script)
            await page.mouse.click(x, y)
            await asyncio.sleep(0.3)


def step(page: Page, number: int) -> Any:
    """Return the button of a step in the timeline."""
    return page.locator(".timeline .step").nth(number)
