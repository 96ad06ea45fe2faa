"""Runs are listed, stepped through and understood in a real browser."""

from __future__ import annotations

import asyncio
import re

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from playwright.async_api import expect

from ras_flow import Runs
from ras_flow.t2rag.settings import T2Context
from tests.page.browser.conftest import OpenPage
from tests.page.browser.pages import RUN, click_edge, drawn, labels, positions, shown, step
from tests.page.canned import TOKEN, CannedServer
from tests.page.documents import WRONG, bridge
from tests.runs.stories import events
from tests.t2rag import world as t2rag

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_runs_are_listed_and_filtered_and_open_by_a_click(
    open_page: OpenPage, server: CannedServer
) -> None:
    page = await open_page()
    runs = page.get_by_role("list", name="Runs").get_by_role("listitem")
    await expect(runs).to_have_count(4)
    await page.get_by_label("Filter runs").fill("aurora")
    await expect(runs).to_have_count(2)
    await page.get_by_label("Stop reason").select_option("sufficient")
    await page.get_by_label("Asked in").select_option("the last week")
    wanted = {"limit": "100", "text": "aurora", "stop_reason": "sufficient", "since": "7d"}
    async with asyncio.timeout(30):
        while [query for _, path, query, _ in server.requests if path == "runs"][-1] != wanted:
            await asyncio.sleep(0.02)
    await expect(runs.first).to_contain_text("The Glåma")
    await runs.first.get_by_role("link").click()
    await drawn(page)
    await expect(page.get_by_role("heading", name="Answer stopped: sufficient")).to_be_visible()


async def test_more_runs_are_offered_only_as_far_as_the_api_lists_them(
    open_page: OpenPage, server: CannedServer
) -> None:
    document = next(iter(server.documents.values()))
    server.documents = {f"{n:04}": {**document, "run": f"{n:04}"} for n in range(1001)}
    page = await open_page("")
    runs = page.get_by_role("list", name="Runs").get_by_role("listitem")
    await expect(runs).to_have_count(100)
    await page.get_by_role("button", name="Show more").click()
    await expect(runs).to_have_count(1000)
    await expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    await expect(page.get_by_text("These are the newest 1000.")).to_be_visible()


async def test_the_token_leaves_the_address_and_is_sent_with_every_request(
    open_page: OpenPage, server: CannedServer
) -> None:
    page = await open_page(RUN)
    await drawn(page)
    assert TOKEN not in page.url
    assert RUN in page.url
    await page.reload()
    await drawn(page)
    assert len(server.sent("GET", "runs/a71c0ffee001")) == 2


async def test_the_right_link_over_a_refused_page_lets_one_in(open_page: OpenPage) -> None:
    page = await open_page(RUN, errors=("401",))
    await page.evaluate("sessionStorage.setItem('ras-flow-token', 'wrong')")
    await page.reload()
    await expect(page.get_by_role("alert")).to_contain_text("The token is missing or wrong.")
    # As the same page is open already, the browser changes nothing but the fragment.
    await page.evaluate(f"location.hash = '#token={TOKEN}&{RUN}'")
    await drawn(page)
    assert TOKEN not in page.url


async def test_a_run_opened_in_a_new_tab_needs_no_token_again(open_page: OpenPage) -> None:
    page = await open_page(errors=("401",))
    first = page.get_by_role("list", name="Runs").get_by_role("link").first
    async with page.context.expect_page() as opening:
        await first.click(modifiers=["Control"])
    tab = await opening.value
    await drawn(tab)
    assert TOKEN not in tab.url


async def test_back_and_forward_lead_through_branches_and_views_not_steps(
    open_page: OpenPage,
) -> None:
    page = await open_page()
    await page.get_by_role("list", name="Runs").get_by_role("link").first.click()
    await drawn(page)
    await page.get_by_label("Branch", exact=True).select_option("1")
    for key in ("Home", "ArrowRight", "ArrowRight"):
        await page.keyboard.press(key)
    await expect(step(page, 2)).to_have_attribute("aria-current", "step")
    await page.get_by_role("button", name="Compare").click()
    await expect(page.locator(".compare")).to_be_visible()
    await page.go_back()
    await expect(step(page, 2)).to_have_attribute("aria-current", "step")
    await expect(page.get_by_label("Branch", exact=True)).to_have_value("1")
    await page.go_back()
    await expect(page.get_by_label("Branch", exact=True)).to_have_value("2")
    await page.go_forward()
    await expect(page.get_by_label("Branch", exact=True)).to_have_value("1")
    await page.go_back()
    await page.go_back()
    await expect(page.get_by_role("list", name="Runs").get_by_role("listitem")).to_have_count(4)


async def test_steps_by_buttons_keys_and_clicks_while_nothing_moves(open_page: OpenPage) -> None:
    page = await open_page(f"{RUN}&branch=1&step=0")
    await drawn(page)
    assert await shown(page) == set()
    before = await positions(page)
    await page.get_by_role("button", name="Step forward").click()
    for _ in range(4):
        await page.keyboard.press("ArrowRight")
    await expect(step(page, 5)).to_have_attribute("aria-current", "step")
    await expect(page.get_by_text("16 entities, 16 triples")).to_be_visible()
    assert await shown(page) == await shown(page, "fresh")
    assert all(label.startswith("+ ") for label in await labels(page, "fresh") if "★" not in label)
    assert await shown(page, "cited") == {"designed by"}
    await step(page, 10).click()
    assert "born in" in await shown(page, "fresh")
    assert "crosses" in await shown(page) - await shown(page, "fresh")
    await page.keyboard.press("End")
    await expect(step(page, 16)).to_have_attribute("aria-current", "step")
    await page.keyboard.press("ArrowLeft")
    await expect(page).to_have_url(re.compile("step=15"))
    assert await positions(page) == before


async def test_a_removed_triple_is_marked_in_the_step_that_removed_it(open_page: OpenPage) -> None:
    page = await open_page(f"{RUN}&branch=2&step=11")
    await drawn(page)
    assert await shown(page, "removed") == {"born in"}
    assert await labels(page, "removed") == ["✕ born in"]
    await page.keyboard.press("ArrowRight")
    await expect(step(page, 12)).to_have_attribute("aria-current", "step")
    assert "born in" not in await shown(page)


async def test_each_step_tells_its_plan_tokens_and_seconds(open_page: OpenPage) -> None:
    page = await open_page(f"{RUN}&branch=1&step=6")
    await expect(step(page, 6)).to_contain_text("749 tok")
    await expect(step(page, 6)).to_contain_text("0.8 s")
    panel = page.get_by_role("tabpanel")
    await expect(panel.locator(".problem")).to_contain_text("There is no label.")
    await expect(panel.locator("pre")).to_have_text(
        "The designer was Mira Lund. I would ask next:\nwhere was she born?"
    )
    await page.get_by_role("tab", name="Answer").click()
    await expect(panel.locator(".warnings")).to_contain_text("passage 'Tverra' was dropped")
    await expect(panel.get_by_role("row", name="planner")).to_contain_text("5")
    await page.get_by_role("tab", name="Passages").click()
    await expect(panel.locator(".passage")).to_have_count(9)


async def test_the_answer_that_a_branch_left_is_shown_where_it_was_given(
    open_page: OpenPage, server: CannedServer
) -> None:
    told = bridge()
    told.stories[0].fork().edit(drop=WRONG).answer("elsewhere", cited=[])
    server.documents[told.run] = told.document()
    page = await open_page(f"{RUN}&branch=2&step=16")
    await drawn(page)
    panel = page.get_by_role("tabpanel")
    await expect(panel.locator("blockquote")).to_have_text("The Tverra")
    await page.keyboard.press("End")
    await expect(panel.locator("blockquote")).to_have_text("elsewhere")


async def test_a_click_on_an_edge_leads_from_the_answer_to_the_sentence(
    open_page: OpenPage,
) -> None:
    page = await open_page(f"{RUN}&branch=1")
    await drawn(page)
    await click_edge(page, "born in")
    lineage = page.get_by_label("Lineage of the triple")
    await expect(lineage.locator("mark")).to_have_text(
        "Born in Vargnes, she moved to Paris at the age of nineteen."
    )
    await expect(lineage.locator(".passage summary")).to_contain_text("Mira Lund (painter)")
    await expect(lineage.locator("li").first).to_contain_text("Where was Mira Lund born?")
    await expect(lineage.locator("li").first).to_contain_text("hop 1")
    await expect(lineage).to_contain_text("The answer cites it")
    assert await shown(page, "selected") == {"born in"}
    await lineage.get_by_role("button", name="step 10: merge_graph").click()
    await expect(step(page, 10)).to_have_attribute("aria-current", "step")
    await click_edge(page, "moved to")
    await expect(lineage).to_contain_text("The answer does not cite it")


async def test_everything_is_reached_by_keyboard_alone(open_page: OpenPage) -> None:
    page = await open_page("", has_touch=False)
    runs = page.get_by_role("list", name="Runs")
    await expect(runs.get_by_role("listitem")).to_have_count(4)
    await page.keyboard.press("/")
    await expect(page.get_by_label("Filter runs")).to_be_focused()
    for _ in range(3):
        await page.keyboard.press("Tab")
    await expect(runs.get_by_role("link").first).to_be_focused()
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert await page.evaluate(outline) == "solid"
    await page.keyboard.press("Enter")
    await drawn(page)
    await page.keyboard.press("Home")
    for _ in range(5):
        await page.keyboard.press("ArrowRight")
    await page.keyboard.press("g")
    await expect(page.locator(".canvas")).to_be_focused()
    before = await positions(page)
    await page.keyboard.press("Shift+ArrowLeft")
    await page.keyboard.press("+")
    assert await positions(page) != before
    await page.keyboard.press("0")
    assert await positions(page) == before
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    assert await shown(page, "selected") == {"crosses"}
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("tabpanel")).to_be_focused()
    await expect(page.locator("mark")).to_contain_text("over the Skarfjord")
    await page.keyboard.press("4")
    await expect(page.get_by_role("tab", name="Answer")).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    await expect(step(page, 5)).to_have_attribute("aria-current", "step")


async def test_errors_of_the_server_are_shown_and_can_be_mended(
    open_page: OpenPage, server: CannedServer
) -> None:
    page = await open_page("run=nobody", errors=("404", "401"))
    await expect(page.get_by_role("alert")).to_contain_text("There is no run 'nobody'.")
    await page.evaluate("sessionStorage.clear()")
    await page.get_by_role("link", name="All runs").click()
    await expect(page.get_by_role("alert")).to_contain_text("The token is missing or wrong.")
    await page.get_by_label("Token").fill(TOKEN)
    await page.get_by_role("button", name="Enter").click()
    await expect(page.get_by_role("list", name="Runs").get_by_role("listitem")).to_have_count(4)


async def test_clues_and_slots_are_shown_by_step_and_compared(
    open_page: OpenPage, server: CannedServer
) -> None:
    runs = Runs(t2rag.build(t2rag.world(), checkpointer=InMemorySaver()))
    context = T2Context(**t2rag.ROUNDS)
    await events(runs.start({"question": t2rag.QUESTION}, context, run_id="t2"))
    fill = [{"op": "fill", "slot": "?director_a", "value": "Eva Lund"}]
    resolved = (await runs.document("t2"))["branches"][0]["steps"][4]
    await events(runs.fork("t2", resolved, fill))
    server.documents["t2"] = await runs.document("t2")
    page = await open_page("run=t2&branch=1&step=4")
    await expect(page.get_by_text("?director_a = Aino Laine")).to_be_visible()
    await expect(page.get_by_text("?birth_a = 1931")).to_have_count(0)
    page = await open_page("run=t2&branch=1&compare=2")
    await expect(page.get_by_role("heading", name="Slots of branch 2")).to_be_visible()
    await expect(page.get_by_text("?birth_a = 1950")).to_be_visible()
