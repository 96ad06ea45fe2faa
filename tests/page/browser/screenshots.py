"""Takes the pictures of the docs: ``python -m tests.page.browser.screenshots docs/images``."""

from __future__ import annotations

import asyncio
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, Page

from tests.page.browser.conftest import launched
from tests.page.browser.pages import RUN, click_edge, drawn
from tests.page.canned import TOKEN, CannedServer
from tests.page.documents import bridge, cut, hostile, paused, two_branches


class Photographer:
    """Opens pages and saves what they look like."""

    def __init__(self, browser: Browser, server: CannedServer, folder: Path) -> None:
        self._browser, self._server, self._folder = browser, server, folder

    async def open(self, fragment: str, scheme: str, height: int = 720) -> Page:
        """Open the page at a fragment, in light or dark."""
        size = {"width": 1360, "height": height}
        page = await self._browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
        await page.goto(f"{self._server.address}/#token={TOKEN}&{fragment}")
        return page

    async def save(self, page: Page, name: str) -> None:
        """Save a picture under a name, and close the page."""
        await page.mouse.move(0, 0)
        await asyncio.sleep(0.5)
        picture = Image.open(BytesIO(await page.screenshot())).convert("RGB")
        path = self._folder / f"{name}.png"
        picture.save(path, optimize=True)
        print(f"{path}: {path.stat().st_size // 1024} KiB")
        await page.close()


async def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    working = cut(bridge("a71c0ffee003").document(), 12)
    server = CannedServer([two_branches(), paused(), working, hostile()])
    async with server.running(), launched() as browser:
        camera = Photographer(browser, server, folder)

        page = await camera.open(f"{RUN}&branch=1&step=10", "light")
        await drawn(page)
        await camera.save(page, "step")

        page = await camera.open(f"{RUN}&branch=1", "dark")
        await drawn(page)
        await click_edge(page, "born in")
        await camera.save(page, "lineage")

        page = await camera.open(f"{RUN}&branch=1&step=10", "light")
        await drawn(page)
        await click_edge(page, "born in")
        await page.get_by_role("button", name="Drop this triple").click()
        await camera.save(page, "edit")

        page = await camera.open(f"{RUN}&branch=2&compare=1", "light", 860)
        await drawn(page)
        await camera.save(page, "compare")

        page = await camera.open("run=a71c0ffee002", "dark")
        await drawn(page)
        await page.get_by_role("button", name="Review …").click()
        await camera.save(page, "review")

        page = await camera.open("run=hostile", "light", 520)
        await drawn(page)
        await page.get_by_role("tab", name="Triples").click()
        await camera.save(page, "hostile")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
