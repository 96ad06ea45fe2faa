"""Runs are edited, forked, reviewed and watched in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from ras_flow import Context
from ras_flow.testing import MappingExtractor
from tests.graph.world import QUESTION as WORLD_QUESTION
from tests.graph.world import TRIPLES
from tests.page.asking import opened
from tests.page.browser.conftest import OpenPage
from tests.page.browser.pages import RUN, click_edge, drawn, places, shown, step
from tests.page.canned import CannedServer
from tests.page.documents import QUESTION, WRONG, bridge, cut, triples_named

pytestmark = pytest.mark.asyncio(loop_scope="module")


FORK = "fork/a71c0ffee001"


async def test_from_the_wrong_triple_to_a_branch_without_it(
    open_page: OpenPage, one_branch: CannedServer
) -> None:
    page = await open_page(f"{RUN}&step=10")
    await drawn(page)
    await expect(page.get_by_role("button", name="Compare")).to_be_disabled()
    before = await places(page)
    await click_edge(page, "born in")
    await page.get_by_role("button", name="Drop this triple").click()
    pending = page.get_by_role("list", name="Pending edits").get_by_role("listitem")
    await expect(pending).to_contain_text("drop Mira Lund")
    assert await shown(page, "pending") == {"born in"}
    await page.get_by_role("button", name="Fork from step 10 with 1 edit").click()

    progress = page.get_by_role("status").filter(has_text="Fork")
    await expect(progress).to_contain_text("[SUBQ] On which <b>river</b>?")
    one_branch.gate.set()
    await expect(page.get_by_role("heading", name="Answer stopped: sufficient")).to_be_visible()
    await expect(page.locator(".answer")).to_have_text("The Glåma")
    assert one_branch.sent("POST", FORK) == [
        {
            "checkpoint": bridge().document()["branches"][0]["steps"][10],
            "edits": [{"op": "drop_triple", "triple": triples_named(WRONG)[0]}],
        }
    ]
    await expect(page.get_by_label("Branch", exact=True)).to_have_value("2")
    await expect(page.get_by_role("list", name="Steps of branch 2")).to_contain_text("edit")
    await expect(page.get_by_text("33 entities, 36 triples")).to_be_visible()
    await drawn(page, 35)
    # What was drawn keeps its place on the plane, though the view may now show more of it.
    after = await places(page)
    assert {name: after[name] for name in before} == before
    assert len(after) > len(before)
    await page.get_by_role("button", name="Compare").click()
    await expect(page.get_by_role("region", name="Branch 1", exact=True)).to_be_visible()


async def test_every_kind_of_edit_is_sent_as_it_was_made(
    open_page: OpenPage, one_branch: CannedServer
) -> None:
    one_branch.gate.set()
    page = await open_page(f"{RUN}&step=10")
    await drawn(page)
    await page.keyboard.press("e")

    async def fill(form: str, **fields: str) -> None:
        place = page.get_by_role("form", name=form)
        for name, value in fields.items():
            await place.get_by_label(name, exact=True).fill(value)
        await place.get_by_role("button", name="Add").click()

    await fill("Ask something else next", text=" Where was the <engineer> born? ")
    await fill("Plan in the planner's place", text="[SUFFICIENT]")
    add = page.get_by_role("form", name="Add a triple")
    passages = await add.get_by_label("passage").get_by_role("option").all_inner_texts()
    assert "Trondheim" in passages and "Tverra" not in passages, "retrieved later"
    await add.get_by_label("passage").select_option(label="Trondheim")
    await fill("Add a triple", subject="Mira Lund", predicate="place of birth", object="Elvestad")
    await fill("Add a triple", subject="A", predicate="b", object="C")
    model = page.get_by_role("form", name="Another model")
    await model.get_by_label("role").select_option("answerer")
    await fill("Another model", name="openai:gpt-5")
    await page.keyboard.press("Escape")
    await page.get_by_role("tab", name="Passages").click()
    painter = page.locator(".passage").filter(has_text="Mira Lund (painter)")
    await painter.locator("summary").click()
    await painter.get_by_role("button", name="Drop this passage").click()
    assert await shown(page, "pending") == {"born in", "moved to", "occupation"}
    pending = page.get_by_role("list", name="Pending edits").get_by_role("listitem")
    await expect(pending).to_have_count(6)
    await page.get_by_role("button", name="Undo edit 2").click()
    await page.get_by_role("button", name="Fork from step 10 with 5 edits").click()
    await expect(page.get_by_role("heading", name="Answer stopped: sufficient")).to_be_visible()
    document = bridge().document()
    ids = {passage["title"]: id for id, passage in document["passages"].items()}
    born = {"subject": "Mira Lund", "predicate": "place of birth", "object": "Elvestad"}
    assert one_branch.sent("POST", FORK)[0]["edits"] == [
        {"op": "subquery", "text": "Where was the <engineer> born?"},
        {"op": "add_triple", **born, "passages": [ids["Trondheim"]]},
        {"op": "add_triple", "subject": "A", "predicate": "b", "object": "C"},
        {"op": "model", "role": "answerer", "name": "openai:gpt-5"},
        {"op": "drop_passage", "passage": ids["Mira Lund (painter)"]},
    ]


async def test_a_replay_sends_no_edits_and_the_last_step_cannot_be_forked(
    open_page: OpenPage, one_branch: CannedServer
) -> None:
    one_branch.gate.set()
    page = await open_page(f"{RUN}&branch=1")
    await drawn(page)
    await page.keyboard.press("e")
    await expect(page.get_by_role("button", name="Replay from step 16")).to_be_disabled()
    await step(page, 2).click()
    await page.get_by_role("button", name="Replay from step 2").click()
    await expect(page.locator(".answer")).to_have_text("The Glåma")
    checkpoint = bridge().document()["branches"][0]["steps"][2]
    assert one_branch.sent("POST", FORK) == [{"checkpoint": checkpoint, "edits": []}]


async def test_an_edit_that_is_made_while_another_is_at_work_is_kept(
    open_page: OpenPage, server: CannedServer
) -> None:
    server.stream = [None, {"type": "done", "branch": 2}]
    page = await open_page(f"{RUN}&step=10")
    await drawn(page)
    await page.keyboard.press("e")
    await page.get_by_role("button", name="Replay from step 10").click()
    model = page.get_by_role("form", name="Another model")
    await model.get_by_label("name").fill("openai:gpt-x")
    await page.keyboard.press("Enter")
    pending = page.get_by_role("list", name="Pending edits").get_by_role("listitem")
    await expect(pending).to_have_count(1)
    server.gate.set()
    await expect(page).to_have_url(re.compile("branch=2"))
    await page.keyboard.press("5")
    await expect(pending).to_have_count(1)


async def test_a_refused_edit_is_told_and_kept(
    open_page: OpenPage, one_branch: CannedServer
) -> None:
    one_branch.stream = [
        {"type": "error", "message": "Edit 1: no <b>subquery</b> is planned here."}
    ]
    page = await open_page(f"{RUN}&step=7")
    await drawn(page)
    await page.keyboard.press("e")
    form = page.get_by_role("form", name="Ask something else next")
    await form.get_by_label("text").fill("Why?")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Fork from step 7 with 1 edit").click()
    await expect(page.get_by_role("alert")).to_contain_text("no <b>subquery</b> is planned here.")
    await expect(page.get_by_role("button", name="Fork from step 7 with 1 edit")).to_be_enabled()
    await page.get_by_role("button", name="Dismiss the error").click()
    await expect(page.get_by_role("alert")).to_be_hidden()


@pytest.mark.parametrize("edited", [False, True])
async def test_a_paused_run_is_answered(
    open_page: OpenPage, server: CannedServer, edited: bool
) -> None:
    server.stream = [{"type": "done", "branch": 1}]
    page = await open_page("run=a71c0ffee002")
    await page.get_by_role("button", name="Review …").click()
    panel = page.get_by_role("tabpanel")
    await expect(panel).to_contain_text("The run waits before it retrieves")
    await expect(panel.locator(".review")).to_contain_text("Where was Mira Lund born?")
    await expect(page.get_by_role("form", name="Add a triple")).to_be_hidden()
    if edited:
        form = page.get_by_role("form", name="Ask something else next")
        await form.get_by_label("text").fill("Where was the engineer born?")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Go on with 1 edit").click()
    else:
        await page.get_by_role("button", name="Approve and go on").click()
    await expect(page.get_by_role("status").filter(has_text="Resume")).to_contain_text("done")
    edits = [{"op": "subquery", "text": "Where was the engineer born?"}] if edited else []
    seen = server.documents["a71c0ffee002"]["branches"][0]["steps"][-1]
    assert server.sent("POST", "resume/a71c0ffee002") == [
        {"branch": 1, "edits": edits, "checkpoint": seen}
    ]


async def test_a_question_is_asked_of_the_chosen_documents_and_ends_on_its_answer(
    open_page: OpenPage, server: CannedServer
) -> None:
    whole = bridge("fresh").document()
    server.documents["fresh"] = cut(whole, 3)
    server.then = whole
    server.stream = [{"type": "run", "run": "fresh"}, None, {"type": "done", "branch": 1}]
    page = await open_page()
    form = page.get_by_role("form", name="Ask")
    documents = form.get_by_label("Documents")
    await expect(documents.locator("option:checked")).to_have_text("handbook: 13 documents")
    await documents.select_option("demo")
    await form.get_by_label("Model").fill("openai:gpt-x")
    await form.get_by_label("Task").select_option("yes_no")
    await form.get_by_label("Question").fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("2 / 2")).to_be_visible()
    await expect(page.get_by_role("tab", name="Step")).to_have_attribute("aria-selected", "true")
    server.gate.set()
    await expect(page.get_by_text("16 / 16")).to_be_visible()
    await expect(page.get_by_role("tabpanel").locator(".answer")).to_have_text("The Tverra")
    roles = dict.fromkeys(["planner", "extractor", "answerer"], "openai:gpt-x")
    settings = {"index": "demo", "task": "yes_no", **roles}
    assert server.sent("POST", "runs") == [{"question": QUESTION, "settings": settings}]

    server.choices |= {"free": False, "models": [], "own": {}}
    await page.get_by_role("link", name="All runs").click()
    await expect(documents).to_have_value("demo")  # as chosen last
    await expect(form.get_by_label("Model")).to_have_text("the server's own")
    await documents.select_option("handbook: 13 documents")
    await form.get_by_label("Question").fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("16 / 16")).to_be_visible()
    settings = {"index": "/srv/handbook", "task": "yes_no"}
    assert server.sent("POST", "runs")[1:] == [{"question": QUESTION, "settings": settings}]

    server.choices["free"] = True
    await page.get_by_role("link", name="All runs").click()
    await form.get_by_label("System").select_option("reg")
    await expect(documents).to_have_count(0)
    await form.get_by_label("Knowledge graph").select_option("films")
    await form.get_by_label("Model").fill("openai:x")
    await form.get_by_label("Question").fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("16 / 16")).to_be_visible()
    last = server.sent("POST", "runs")[2]
    settings = {"kg": "/srv/films", "answerer": "openai:x", "task": "yes_no"}
    assert last == {"question": QUESTION, "settings": settings, "system": "reg"}


async def test_an_export_is_downloaded_with_the_token(
    open_page: OpenPage, server: CannedServer
) -> None:
    page = await open_page(f"{RUN}&branch=2")
    export = page.get_by_role("form", name="Export this branch")
    await export.get_by_label("Format").focus()
    await page.keyboard.press("ArrowDown")  # chooses, and does no more
    await expect(export.get_by_label("Format")).to_have_value("graphml")
    async with page.expect_download() as started:
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
    download = await started.value
    assert download.suggested_filename == "a71c0ffee001-2.graphml"
    queries = [query for _, path, query, _ in server.requests if path.startswith("export/")]
    assert queries == [{"format": "graphml", "branch": "2"}]


async def test_an_unfinished_branch_is_resumed_without_edits(
    open_page: OpenPage, server: CannedServer
) -> None:
    whole = bridge().document()
    server.documents[whole["run"]] = cut(whole, 9)
    server.then = whole
    server.stream = [None, {"type": "done", "branch": 1}]
    server.gate.set()
    page = await open_page(RUN)
    await drawn(page)
    await page.keyboard.press("e")
    await page.get_by_role("button", name="Resume the run").click()
    await expect(page.locator(".answer")).to_have_text("The Tverra")
    assert server.sent("POST", "resume/a71c0ffee001") == [{"branch": 1}]


async def test_over_real_runs_a_question_is_asked_and_its_graph_mended(
    open_page: OpenPage, tmp_path: Path
) -> None:
    async with opened(tmp_path / "runs") as (runs, real):
        page = await open_page(f"token={real.token}", address=real.base)
        await page.get_by_label("Question").fill(WORLD_QUESTION)
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator(".answer")).to_have_text("Narvik")
        await drawn(page, 8)
        await click_edge(page, "place of birth")
        await expect(page.locator(".passage mark")).to_have_text("She was born in Narvik.")
        await page.get_by_role("button", name="Drop this triple").click()
        await page.get_by_role("button", name="with 1 edit").click()
        await expect(page.locator(".answer")).to_have_text("elsewhere")
        await page.keyboard.press("c")
        only = page.get_by_role("list", name="Only in branch 1").get_by_role("listitem")
        await expect(only).to_have_count(1)
        await expect(only).to_contain_text("place of birth")
        (summary,) = await runs.recent()
        document = await runs.document(summary.id)
    assert [branch["answer"] for branch in document["branches"]] == ["Narvik", "elsewhere"]


async def test_a_lineage_names_only_the_passages_that_the_shown_branch_has(
    open_page: OpenPage, tmp_path: Path
) -> None:
    again = f"{TRIPLES['Mira Lund']}, (S> Aurora Bridge| P> designer| O> Mira Lund)"
    extractor = MappingExtractor(TRIPLES | {"Mira Lund": again})
    async with opened(tmp_path / "runs", extractor=extractor) as (runs, real):
        async for _ in runs.start({"question": WORLD_QUESTION}, Context(top_k=1), run_id="twice"):
            pass
        page = await open_page(f"token={real.token}&run=twice", address=real.base)
        await drawn(page)
        await click_edge(page, "designer")
        stated = page.get_by_label("Lineage of the triple").locator(".passage")
        await expect(stated.locator("summary .text")).to_have_text(["Aurora Bridge", "Mira Lund"])
        await stated.last.get_by_role("button", name="Drop this passage").click()
        await page.get_by_role("button", name="with 1 edit").click()
        await expect(page).to_have_url(re.compile("branch=2"))  # The fork is over.
        await expect(page.locator(".answer")).to_have_text("elsewhere")
        await drawn(page)
        await click_edge(page, "designer")
        await expect(stated.locator("summary .text")).to_have_text(["Aurora Bridge"])
        await page.get_by_label("Branch", exact=True).select_option("1")
        await expect(stated.locator("summary .text")).to_have_text(["Aurora Bridge", "Mira Lund"])
