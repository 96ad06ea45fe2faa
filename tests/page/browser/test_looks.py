"""How the page looks: themes, small windows, large graphs."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.page.browser.conftest import OpenPage
from tests.page.browser.pages import RUN, drawn, shown
from tests.page.canned import CannedServer
from tests.page.documents import two_branches

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_two_branches_side_by_side(open_page: OpenPage) -> None:
    page = await open_page(f"{RUN}&branch=2")
    await drawn(page)
    await page.keyboard.press("c")
    await drawn(page)
    left = page.get_by_role("region", name="Branch 1", exact=True)
    right = page.get_by_role("region", name="Branch 2")
    await expect(left.locator(".answer")).to_have_text("≠ The Tverra")
    await expect(right.locator(".answer")).to_have_text("≠ The Glåma")
    assert "born in" in await shown(page, "only", at=0)
    assert "longest river of" in await shown(page, "only", at=1)
    assert "designed by" not in await shown(page, "only", at=1)
    # The branch of the other side is chosen on this one: they change places, and back.
    sides = page.get_by_role("combobox", name="Branch on this side")
    for choice in ("2", "1"):
        await sides.first.select_option(choice)
        await expect(sides.last).to_have_value({"1": "2", "2": "1"}[choice])
    only = page.get_by_role("list", name="Only in branch 1").get_by_role("listitem")
    await expect(only).to_have_count(6)
    changed = page.locator(".chains tr.differs")
    await expect(changed.first).to_contain_text("On which river does Vargnes lie?")
    await expect(changed.first).to_contain_text("On which river does Elvestad lie?")
    await expect(changed.last).to_contain_text("max_hops")
    # Both show the same part of the plane.
    pans = "[...document.querySelectorAll('.canvas')].map(c => JSON.stringify(c._cyreg.cy.pan()))"
    await page.locator(".canvas").first.hover()
    await page.mouse.wheel(0, -300)
    first, second = await page.evaluate(pans)
    assert first == second
    await only.first.get_by_role("button").click()
    await page.get_by_role("button", name="Show in branch 1").click()
    await expect(page.get_by_label("Lineage of the triple")).to_contain_text("Vargnes")


@pytest.mark.parametrize(("scheme", "dark"), [("dark", True), ("light", False)])
async def test_dark_and_light_follow_the_system_and_the_toggle(
    open_page: OpenPage, scheme: str, dark: bool
) -> None:
    async def become(dark: bool) -> None:
        """Wait until page and drawing are both dark, or both light."""
        script = """dark => {
            const rgb = e => getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).slice(0, 3);
            const node = document.querySelector('.canvas')._cyreg.cy.nodes()[0];
            const drawn = node.style('background-color').match(/[\\d.]+/g).slice(0, 3);
            const mean = c => c.reduce((a, b) => a + Number(b), 0) / 3;
            return [rgb(document.documentElement), drawn].every(c => mean(c) < 128 === dark);
        }"""
        await page.wait_for_function(script, arg=dark)

    page = await open_page(RUN, color_scheme=scheme)
    await drawn(page)
    await become(dark)
    await page.get_by_role("button", name="Light or dark").click()
    await become(not dark)
    await page.reload()
    await drawn(page)
    await become(not dark)


async def test_an_answer_without_support_never_looks_like_one_with_it(
    open_page: OpenPage, server: CannedServer
) -> None:
    document = two_branches()
    document["branches"][1] |= {"supported": False, "support": "No fact leads to it."}
    document["branches"][0]["citations"][0]["source"] = "https://docs.example/bridges.pdf#page=3"
    server.documents = {document["run"]: document}
    page = await open_page()
    await expect(page.get_by_role("list", name="Runs")).to_contain_text("not supported")
    await page.get_by_role("list", name="Runs").get_by_role("link").click()
    panel = page.get_by_role("tabpanel")
    await expect(panel.locator(".answer.unsupported")).to_have_text("The Glåma")
    await expect(panel.locator(".support")).to_have_text("✕ Not supported No fact leads to it.")
    branches = page.get_by_label("Branch", exact=True)
    await expect(branches.locator("option:checked")).to_contain_text("not supported")
    await branches.select_option("1")
    await page.get_by_role("tab", name="Answer").click()
    await expect(panel.locator(".answer.supported")).to_have_text("The Tverra")
    await expect(panel.locator(".support")).to_contain_text("✓ Supported")
    # A cited fact has its sentence with it.
    await expect(panel.locator(".stated").first).to_contain_text("won the competition")
    link = panel.locator(".stated a")
    await expect(link).to_have_attribute("href", "https://docs.example/bridges.pdf#page=3")


async def test_what_states_nothing_is_not_called_unsupported(
    open_page: OpenPage, server: CannedServer
) -> None:
    document = two_branches()
    said = {"answer": "The documents do not say.", "supported": False, "support": "No fact."}
    document["branches"][1] |= said
    server.documents = {document["run"]: document}
    page = await open_page()
    runs = page.get_by_role("list", name="Runs")
    await expect(runs).to_contain_text("The documents do not say.")
    await expect(runs).not_to_contain_text("not supported")
    await runs.get_by_role("link").click()
    await expect(page.get_by_role("tabpanel").locator(".support")).to_have_text("No fact.")
    branch = page.get_by_label("Branch", exact=True).locator("option:checked")
    await expect(branch).not_to_contain_text("not supported")


async def test_on_a_phone_the_answer_comes_first_and_nothing_is_void(
    open_page: OpenPage, server: CannedServer
) -> None:
    server.choices["indexes"][0]["name"] = "a long name of a folder " * 4
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    page = await open_page("", **phone)
    field = await page.get_by_label("Filter runs").bounding_box()
    assert field and field["width"] > 180
    field = await page.get_by_label("Documents").bounding_box()
    assert field and field["x"] + field["width"] < 390
    await page.get_by_role("list", name="Runs").get_by_role("link").first.click()
    await drawn(page)
    width, height = await page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    )
    assert (width, await page.evaluate("scrollY")) == (390, 0)
    places = [".answer", ".canvas", ".timeline"]
    answer, graph, steps = [await page.locator(place).bounding_box() for place in places]
    assert answer and graph and steps
    assert answer["y"] + answer["height"] < 844
    assert answer["y"] < graph["y"] < steps["y"]
    assert steps["y"] + steps["height"] == pytest.approx(height, abs=2)
    await page.evaluate(f"scrollTo(0, {height})")
    await page.get_by_role("button", name="Step back").tap()
    await expect(page.get_by_text("16 / 17")).to_be_visible()


@pytest.mark.parametrize("width", [1400, 1000, 900])
async def test_nothing_is_cut_off_in_smaller_windows(open_page: OpenPage, width: int) -> None:
    page = await open_page(RUN, viewport={"width": width, "height": 760})
    await drawn(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    for place in (page.locator(".canvas"), page.get_by_role("tabpanel"), page.locator(".timeline")):
        box = await place.bounding_box()
        assert box is not None
        assert box["width"] > 200
        assert box["height"] > 200
        assert box["y"] + box["height"] <= 760
