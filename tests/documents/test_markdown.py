"""Markdown: what its page shows."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.documents.samples import passages, read


@pytest.mark.parametrize(
    "text, title",
    [
        ("intro\n\n## The *real* title ##\n\ntext", "The real title"),
        ("```\n# a comment\n```\n\n# Title\n", "Title"),
        ("a\n\nUnderlined\n=====\n\ntext", "Underlined"),
        ("#\t Title # of C# \t## \t", "Title # of C#"),
        ("# \t#\n# Title", "Title"),
        ("#hashtag is no heading", "note"),
        ("# ![logo](a.png) [Radium](https://x.org/Radium_(element)) [1]", "Radium [1]"),
        ("# [![build](a.svg)](https://x.org) Radium\n", "Radium"),
    ],
)
def test_markdown_is_titled_by_its_first_heading(tmp_path: Path, text: str, title: str) -> None:
    path = tmp_path / "note.md"
    path.write_text(text)
    assert [document.title for document in read(path)] == [title]


@pytest.mark.parametrize(
    "front, title",
    [
        ("---\ntitle: 1984\n# a comment\n---\n", "1984"),
        ('---\r\ntitle: "On: \\"time\\""\r\n...\r\n', 'On: "time"'),
        ("---\ntitle: [no, text]\n--- \n", "Heading"),
        ("---\nJust a break.\n---\n", None),
        ('---\ntitle: "open\n---\n', None),
        ("---\ntitle: never closed\n", None),
        ('---\ntitle: "\\UFFFFFFFF"\n---\n', None),
        (f"---\na: {'[' * 9999}\n---\n", None),
        ("\n---\na: b\n---\n", None),
        ('+++\ntitle = "Aurora Bridge"\nlength = 12\n+++\n', "Aurora Bridge"),
        ("+++\r\n[menu]\r\nweight = 3\r\n+++\r\n", "Heading"),
        ("+++\nno = toml =\n+++\n", None),
    ],
)
def test_front_matter_gives_a_title_and_anything_else_is_text(
    tmp_path: Path, front: str, title: str | None
) -> None:
    path = tmp_path / "note.md"
    path.write_text(f"{front}# Heading\n\nText.\n---\nMore.", newline="")
    [document] = read(path)
    assert document.title == (title or "Heading")
    alone = "Heading\n\nText.\n\nMore."
    assert document.text.endswith(alone) and (document.text == alone) == (title is not None)


HANDBOOK = """\
---
title: Handbook
---

<!-- draft: do not publish
the rent is 900 euros -->

# Handbook

%% ask Nils %%

## Offices

The offices, all of which open at nine and close at five on working days:

| Office | Manager | ~~Rent~~ Floor |
| ------ | ------- | -------------: |
| Lisbon | [Tomás Ferreira](https://x.org) | 2 |
| Porto  |         | `a\\|b` 3 |

## Pumps {#pumps}

### PX-5

It weighs 4 kg and costs 90 euros, but is no longer made in Halden.[^1]

```sh
# not a heading
start --fast
```

PX-9
----

1. Lift [[Crane|the crane]] with **two** people and a rope that holds its weight.
   - slowly
2. Bolt it. ![[photo.png]]

![A cat](data:image/png;base64,iVBORw0KGgo+/==)

[^1]: https://x.org/halden
"""


def test_a_handbook_is_read_by_its_headings(tmp_path: Path) -> None:
    path = tmp_path / "handbook.md"
    path.write_text(HANDBOOK, encoding="utf-8")
    found = [
        (one["title"], one["source"].rpartition("#")[2], one["text"]) for one in passages(path)
    ]
    assert found == [
        (
            "Handbook › Offices",
            "offices",
            "The offices, all of which open at nine and close at five on working days:\n"
            "Office: Lisbon; Manager: Tomás Ferreira; Floor: 2\n"
            "Office: Porto; Manager: -; Floor: a|b 3",
        ),
        (
            "Handbook › Pumps › PX-5",
            "px-5",
            "It weighs 4 kg and costs 90 euros, but is no longer made in Halden.[^1]\n\n"
            "```\n# not a heading\nstart --fast\n```",
        ),
        (
            "Handbook › PX-9",
            "px-9",
            "1. Lift the crane with two people and a rope that holds its weight.\n  - slowly\n"
            "2. Bolt it.\n\n[^1]: https://x.org/halden",
        ),
    ]


@pytest.mark.parametrize(
    "text", ["#{0}a{1}b", "a{1}", "[[{0}", "x%%{0}\n" * 50, "|{1}|\n|-|", "{0}- a"]
)
def test_odd_markdown_takes_no_time(tmp_path: Path, text: str) -> None:
    path = tmp_path / "note.md"
    path.write_text(text.format(" " * 100_000, " #" * 50_000))
    start = time.process_time()
    read(path)
    assert time.process_time() - start < 10, "quadratic time would take minutes"
