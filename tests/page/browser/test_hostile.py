"""Text of documents and models is shown in a real browser, and never run; also from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from ras_flow.page.export import to_html
from ras_flow.runs.document import RunDocument
from tests.page.browser.conftest import OpenPage
from tests.page.browser.pages import click_edge, drawn, labels, shown, step
from tests.page.canned import CannedServer
from tests.page.documents import HOSTILE, hostile, two_branches

pytestmark = pytest.mark.asyncio(loop_scope="module")

_FOREIGN = """document.querySelectorAll(
    '#page :is(script, img, iframe, svg, b, style, link, object, a[target])').length"""


async def _look_everywhere(page: Page) -> str:
    """Open every panel of every step; return all text that was shown."""
    await drawn(page)
    panel = page.get_by_role("tabpanel")
    texts = [await page.locator("body").inner_text()]
    for number in range(8):
        await step(page, number).click()
        await page.get_by_role("tab", name="Step").click()
        texts.append(await panel.inner_text())
    for name in ("Passages", "Answer", "Triples"):
        await page.get_by_role("tab", name=name).click()
        for summary in await panel.locator("summary").all():
            await summary.click()
        texts.append(await panel.inner_text())
    rows = panel.locator(".row")
    for at in range(0, await rows.count(), 7):
        await rows.nth(at).click()
        texts.append(await panel.inner_text())
        await page.keyboard.press("Escape")
    assert await page.evaluate(_FOREIGN) == 0
    return "\n".join(texts)


def _check(text: str) -> None:
    for piece in HOSTILE[:8]:
        assert piece in text, piece
    assert "userU+202Egnp.exeU+202C" in text
    assert "zeroU+200B ×2widthU+FEFF" in text
    assert "nulU+0000 bellU+0007 escapeU+001B[31mred" in text
    assert "lineU+2028separator" in text
    assert "\u202e" not in text
    assert "شركة الجسور" in text
    # The joiner inside an emoji belongs there.
    assert "\U0001f469\u200d\U0001f4bb engineer" in text
    assert "x" * 10_000 in text


async def test_hostile_text_is_shown_and_never_run(open_page: OpenPage) -> None:
    page = await open_page("run=hostile")
    _check(await _look_everywhere(page))
    title = await page.title()
    assert title == f"{HOSTILE[0]} user⟨U+202E⟩gnp.exe⟨U+202C⟩? · ras-flow"
    drawn_names = await page.evaluate(
        "document.querySelector('.canvas')._cyreg.cy.nodes().map(n => n.data('label'))"
    )
    assert "user⟨U+202E⟩gnp.exe⟨U+202C⟩" in drawn_names
    assert all(len(name) < 60 for name in drawn_names)


async def test_hostile_edits_and_addresses_are_only_text(open_page: OpenPage) -> None:
    page = await open_page("run=<img src=x onerror=alert(1)>", errors=("404",))
    await expect(page.get_by_role("alert")).to_contain_text("<img src=x onerror=alert(1)>")
    page = await open_page("run=hostile&branch=__proto__&step=-1&compare=1e9")
    await drawn(page)
    await page.keyboard.press("e")
    form = page.get_by_role("form", name="Add a triple")
    for name in ("subject", "predicate", "object"):
        await form.get_by_label(name, exact=True).fill(HOSTILE[0])
    await page.keyboard.press("Enter")
    pending = page.get_by_role("list", name="Pending edits")
    await expect(pending).to_contain_text(HOSTILE[0])
    assert await page.evaluate(_FOREIGN) == 0


async def test_a_highlight_is_where_python_says_also_behind_wide_characters(
    open_page: OpenPage,
) -> None:
    page = await open_page("run=hostile")
    await drawn(page)
    await page.keyboard.press("2")
    await page.get_by_role("tabpanel").locator(".row").first.click()
    marked = page.locator(".passage mark").first
    await expect(marked).to_have_text(f"{HOSTILE[0]} says {HOSTILE[1]}.")


def _file(folder: Path, document: RunDocument) -> str:
    path = folder / "run.html"
    path.write_text(to_html(document), encoding="utf-8")
    return path.as_uri()


async def test_an_exported_file_shows_the_run_without_any_server(
    open_page: OpenPage, tmp_path: Path
) -> None:
    page = await open_page("branch=1&step=10", address=_file(tmp_path, two_branches()))
    await drawn(page)
    assert "born in" in await shown(page, "fresh")
    await click_edge(page, "born in")
    await expect(page.locator("mark")).to_contain_text("Born in Vargnes")
    await expect(page.get_by_role("tab")).to_have_text(["Step", "Triples", "Passages", "Answer"])
    await expect(page.get_by_role("button", name="Drop this triple")).to_be_hidden()
    await page.keyboard.press("c")
    await expect(page.get_by_role("list", name="Only in branch 2")).to_contain_text("longest river")
    await page.keyboard.press("t")
    await page.keyboard.press("c")
    await drawn(page)
    assert await labels(page, "cited") != []


async def test_hostile_text_in_an_exported_file(open_page: OpenPage, tmp_path: Path) -> None:
    page = await open_page("", address=_file(tmp_path, hostile()))
    _check(await _look_everywhere(page))


async def test_a_passage_may_have_the_name_of_what_every_object_has(
    open_page: OpenPage, server: CannedServer
) -> None:
    document = two_branches()
    [first, *_] = document["passages"]
    document = json.loads(json.dumps(document).replace(first, "constructor"))
    for spans in document["evidence"].values():
        spans.pop("constructor", None)
    server.documents["named"] = document | {"run": "named"}
    page = await open_page("run=named")
    await drawn(page)
    panel = page.get_by_role("tabpanel")
    await page.keyboard.press("2")
    for at in range(await panel.locator(".row").count()):
        await panel.locator(".row").nth(at).click()
        await expect(panel.get_by_role("heading", name="Stated in")).to_be_visible()
        await page.keyboard.press("Escape")


async def test_the_id_of_a_run_cannot_reorder_the_list(
    open_page: OpenPage, server: CannedServer
) -> None:
    id = "run\u202e7"
    server.documents[id] = two_branches() | {"run": id}
    page = await open_page()
    link = page.get_by_role("link").filter(has_text="runU+202E7")
    await expect(link).to_have_count(1)
