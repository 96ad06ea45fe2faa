"""A run as one HTML file: nothing of its text can leave its place, and nothing else is loaded."""

from __future__ import annotations

import json
from base64 import b64encode
from copy import deepcopy
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ras_flow.errors import RunError
from ras_flow.page.export import to_html
from tests.page.documents import hostile, paused, two_branches

_DOCUMENT = paused()


class _Page(HTMLParser):
    """Collects elements with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, dict[str, str | None], str]] = []
        self._open = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside.append((tag, dict(attrs), ""))
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, attributes, text = self.inside[-1]
            self.inside[-1] = (tag, attributes, text + data)

    def run(self) -> object:
        """The document in the page."""
        (text,) = [text for _, attributes, text in self.inside if attributes.get("id") == "run"]
        return json.loads(text)


@settings(max_examples=25)
@given(st.text() | st.sampled_from(["</script>", "<!--<script>", "]]>", "\ud800", "\u2028"]))
def test_any_text_stays_in_the_document(text: str) -> None:
    document = deepcopy(_DOCUMENT)
    document["question"] = text
    for triple in document["triples"].values():
        triple["object"] = text
    page = _Page(to_html(document))
    assert page.run() == json.loads(json.dumps(document))
    plain = _Page(to_html(_DOCUMENT))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]


def test_the_page_opens_the_branch_that_was_asked_for() -> None:
    document = two_branches()
    for branch, opened in ((None, 2), (1, 1), (2, 2)):
        assert _Page(to_html(document, branch)).run() == json.loads(
            json.dumps({**document, "current": opened})
        )
    with pytest.raises(RunError, match="no branch 3"):
        to_html(document, 3)


def test_only_what_is_in_the_file_may_run_and_nothing_is_fetched() -> None:
    page = _Page(to_html(hostile()))
    (policy,) = [
        attributes["content"] or ""
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    assert "connect-src" not in rules
    hashes = {"script": set[str](), "style": set[str]()}
    for tag, attributes, text in page.inside:
        if attributes.get("type") != "application/json":
            digest = b64encode(sha256(text.encode()).digest()).decode()
            hashes[tag].add(f"'sha256-{digest}'")
    assert set(rules["script-src"].split()) == hashes["script"]
    assert set(rules["style-src"].split()) == hashes["style"]
    for _, attributes in page.elements:
        assert "src" not in attributes
        assert (attributes.get("href") or "data:").startswith("data:")
