"""Work that goes on while one looks: runs, servers, others."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from ras_flow import Context
from ras_flow.runs import Runs
from tests.graph.world import QUESTION as WORLD_QUESTION
from tests.page.asking import opened
from tests.page.browser.conftest import OpenPage
from tests.page.browser.pages import RUN, drawn, places, step
from tests.page.canned import CannedServer
from tests.page.documents import (
    QUESTION,
    bridge,
    cut,
    paused,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def until_its_review(runs: Runs) -> None:
    """Start the run "waits", which waits before its answer."""
    settings = Context(top_k=1, pause_before_answer=True)
    async for _ in runs.start({"question": WORLD_QUESTION}, settings, run_id="waits"):
        pass


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


async def test_work_that_ends_leaves_one_at_the_run_that_one_went_to(
    open_page: OpenPage, one_branch: CannedServer
) -> None:
    page = await open_page(f"{RUN}&step=10")
    await drawn(page)
    await page.keyboard.press("e")
    await page.get_by_role("button", name="Replay from step 10").click()
    progress = page.get_by_role("status").filter(has_text="Replay")
    await expect(progress).to_contain_text("On which")
    await page.evaluate("location.hash = '#run=hostile&step=2'")
    await expect(step(page, 2)).to_have_attribute("aria-current", "step")
    async with page.expect_response(lambda answer: answer.url.endswith("api/runs/hostile")):
        one_branch.gate.set()
    await expect(progress.get_by_role("button", name="Dismiss")).to_be_visible()
    await page.wait_for_timeout(700)  # what was to happen after the end has happened
    assert page.url.endswith("#run=hostile&step=2")


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


async def test_a_slow_server_is_waited_for_in_view_and_can_be_left(
    open_page: OpenPage, one_branch: CannedServer
) -> None:
    one_branch.ready.clear()
    page = await open_page(RUN)
    await expect(page.get_by_text("Loading the run …")).to_be_visible()
    await page.get_by_role("link", name="All runs").click()
    await expect(page.get_by_text("Loading …", exact=True)).to_be_visible()
    one_branch.ready.set()
    # What was asked for first comes last, and is not what is shown.
    await expect(page.get_by_role("list", name="Runs").get_by_role("listitem")).to_have_count(4)
    await page.wait_for_load_state("networkidle")
    await expect(page.locator(".canvas")).to_have_count(0)

    await page.evaluate(f"location.hash = '#{RUN}&step=10'")
    await drawn(page)
    one_branch.ready.clear()
    await page.keyboard.press("e")
    await page.get_by_role("button", name="Replay from step 10").click()
    progress = page.get_by_role("status").filter(has_text="Replay")
    await expect(progress).to_be_visible()
    await expect(page.get_by_role("button", name="Replay from step")).to_be_disabled()
    await page.keyboard.press("Home")
    await expect(step(page, 0)).to_have_attribute("aria-current", "step")
    one_branch.gate.set()
    one_branch.ready.set()
    await expect(page.locator(".answer")).to_have_text("The Glåma")


async def test_a_run_that_is_deleted_while_it_is_watched_live_is_told(
    open_page: OpenPage, tmp_path: Path
) -> None:
    async with opened(tmp_path / "runs") as (runs, real):
        await until_its_review(runs)
        fragment = f"token={real.token}&run=waits"
        page = await open_page(fragment, address=real.base, errors=("404",))
        await expect(page.get_by_role("button", name="Review …")).to_be_visible()
        await runs.delete(["waits"])
        await expect(page.get_by_role("alert")).to_contain_text("no run 'waits'")
        await expect(page.get_by_role("button", name="Review …")).to_be_visible()


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
