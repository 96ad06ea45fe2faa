"""Work that goes on while one looks: runs, servers, others."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.page.browser.conftest import OpenPage
from tests.page.browser.pages import RUN, drawn, places, step
from tests.page.canned import CannedServer
from tests.page.documents import QUESTION, bridge, cut, paused

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_run_at_work_grows_before_ones_eyes_and_nothing_moves(
    open_page: OpenPage, server: CannedServer
) -> None:
    whole = bridge().document()
    server.documents[whole["run"]] = cut(whole, 6)
    page = await open_page(RUN)
    await drawn(page)
    await expect(page.get_by_text("16 entities, 16 triples")).to_be_visible()
    before = await places(page)
    server.documents[whole["run"]] = cut(whole, 11)
    await server.live.put({"type": "changed"})
    await expect(step(page, 10)).to_have_attribute("aria-current", "step")
    await expect(page.get_by_text("26 entities, 29 triples")).to_be_visible()
    await page.keyboard.press("Home")
    server.documents[whole["run"]] = whole
    await server.live.put({"type": "changed"})
    await server.live.put({"type": "done"})
    # Who looks at an earlier step is left there.
    await expect(page.get_by_text("0 / 16")).to_be_visible()
    await page.keyboard.press("End")
    await expect(page.get_by_text("31 entities, 35 triples")).to_be_visible()
    await drawn(page, 31)
    after = await places(page)
    assert {name: after[name] for name in before} == before
    assert len(after) > len(before)


async def test_a_run_that_cannot_be_loaded_does_not_hold_up_the_next(
    open_page: OpenPage, server: CannedServer
) -> None:
    server.ready.clear()
    page = await open_page("run=nobody", errors=("404",))
    await expect(page.get_by_text("Loading the run …")).to_be_visible()
    await page.evaluate(f"location.hash = '#{RUN}'")
    async with page.expect_response(lambda answer: answer.url.endswith("api/runs/nobody")):
        server.ready.set()
    await drawn(page)
    await expect(page.get_by_role("alert")).to_be_hidden()


async def test_a_server_that_is_gone_is_told(open_page: OpenPage, server: CannedServer) -> None:
    page = await open_page(RUN, errors=("503", "ERR_INCOMPLETE_CHUNKED_ENCODING"))
    await drawn(page)
    server.error = (503, "The database is locked; try again.")
    await page.keyboard.press("Home")
    await page.keyboard.press("e")
    await page.get_by_role("button", name="Replay from step 0").click()
    await expect(page.get_by_role("alert")).to_contain_text("The database is locked; try again.")
    # The run that was there is still shown, also when a stream breaks off.
    server.error = None
    server.stream = [{"type": "start", "question": QUESTION}, {"type": "break"}]
    await page.get_by_role("button", name="Replay from step 0").click()
    await expect(page.get_by_role("alert")).to_contain_text("The connection broke off.")
    await expect(step(page, 0)).to_have_attribute("aria-current", "step")


async def test_a_review_that_is_answered_elsewhere_shows_at_once(
    open_page: OpenPage, server: CannedServer
) -> None:
    page = await open_page("run=a71c0ffee002")
    await expect(page.get_by_role("button", name="Review …")).to_be_visible()
    server.documents["a71c0ffee002"] = bridge("a71c0ffee002").document()
    await server.live.put({"type": "changed"})
    await server.live.put({"type": "done"})
    await expect(page.get_by_role("button", name="Review …")).to_be_hidden()
    await expect(page.get_by_text("16 / 16")).to_be_visible()


async def test_what_a_node_of_another_kind_asks_is_answered_like_a_review(
    open_page: OpenPage, server: CannedServer
) -> None:
    document = paused()
    last = document["steps"][document["branches"][-1]["steps"][-1]]
    last["review"] = {"question": "May I go on?"}
    server.documents["other"] = document | {"run": "other"}
    server.stream = [{"type": "done", "branch": 1}]
    page = await open_page("run=other")
    await page.get_by_role("button", name="Review …").click()
    await expect(page.get_by_role("form", name="Add a triple")).to_be_visible()
    await page.get_by_role("button", name="Approve and go on").click()
    await expect(page.get_by_role("status").filter(has_text="Resume")).to_contain_text("done")
    [body] = server.sent("POST", "resume/other")
    assert (body["edits"], body["checkpoint"]) == ([], last["checkpoint"])
