"""HTML: what a reader sees of a page."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.documents.samples import LONG, TOWNS, passages, read, words


@pytest.mark.parametrize(
    ("page", "paragraphs"),
    [
        (
            "<html><head><title>The\n page</title><style>p {color: red}</style></head><body>"
            "<h1>Heading</h1><script>alert('x')</script><p>One <b>bold</b>. Two</p><p>Three<br>"
            "four<table><tr><td>a</td><td>b</td></tr></table>&lt;tag&gt; &amp; é</body></html>",
            ["Heading", "One bold. Two", "Three four", "a: b", "<tag> & é"],
        ),
        (
            "<title>The page</title><body onload='run()'>One<!-- a note --><script>bad()</script> "
            "two.<noscript><p>turn it on</p></noscript><template>later</template>"
            "<div>Three<div>four</div>five</div>six<svg><script>worse()</script></svg>",
            ["One two.", "Three", "four", "five", "six"],
        ),
        (
            "<title>The page</title><select><option>Aa<option>Bb</select><textarea>cc</textarea>"
            "<button>Dd</button><button>Ee</button><video>old browser</video><dialog>Ff</dialog>"
            "gg<svg><title>an icon</title></svg>",
            ["Aa Bb cc Dd Ee", "Ff", "gg"],
        ),
        (
            "<meta charset=utf-8><title>The page</title><p><ruby>漱<rp>（</rp><rt>そう</rt>"
            "<rp>）</rp>石</ruby>は東京で生まれた。",
            ["漱石は東京で生まれた。"],
        ),
    ],
)
def test_a_page_is_what_a_reader_sees(tmp_path: Path, page: str, paragraphs: list[str]) -> None:
    path = tmp_path / "page.HTML"
    path.write_text(page, encoding="utf-8")
    [document] = read(path)
    assert document.title == "The page"
    assert [words(p) for p in document.text.split("\n\n") if p.strip()] == paragraphs


@pytest.mark.parametrize("tag", ["main", "p", "my-page"])
def test_html_without_a_body_tag_is_read(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8><title>T</title><style>p {}</style>"
        f"<{tag}>One<p>two</p></{tag}><p>three"
    )
    [document] = read(path)
    assert (document.title, document.text.split()) == ("T", ["One", "two", "three"])


@pytest.mark.parametrize(
    ("page", "titles", "text"),
    [
        ("<title>Radium</title><h1>Ra<i>dium</i></h1>It glows.", ["Radium"], "It glows."),
        (
            "<h1>Radium</h1>It glows.<h1>Radium</h1>In the dark.",
            ["Radium"],
            "It glows. In the dark.",
        ),
        ("<title>On radium</title><h1>Radium</h1>It glows.", ["On radium › Radium"], "It glows."),
        ("<title>Radium</title><h1>Radium</h1>", ["Radium"], "Radium"),
        ("<title>Radium</title>Radium<p>It glows.", ["Radium"], "It glows."),
        (f"<h1>{LONG}</h1>It glows.", ["page"], f"{LONG}It glows."),
        (
            "<h1>Guide</h1><h2>Uses<a href=#uses>§</a></h2><p>Many.</p><h3>Clocks"
            "<a class=headerlink>¶</a></h3><p>"
            "The hands of old clocks were painted with it, which made their painters ill.",
            ["Guide › Uses", "Guide › Uses › Clocks"],
            "The hands of old clocks were painted with it, which made their painters ill.",
        ),
    ],
)
def test_passages_are_titled_by_the_headings_above_them(
    tmp_path: Path, page: str, titles: list[str], text: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page)
    found = passages(path)
    assert [passage["title"] for passage in found] == titles
    assert words(found[-1]["text"]) == words(text)


@pytest.mark.parametrize(("said", "read_too"), [("It has five wheels.", False), ("It.", True)])
def test_what_stands_around_a_pages_main_part_is_left_out_unless_it_says_more(
    tmp_path: Path, said: str, read_too: bool
) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        f"<title>T</title><body><div><h2>Keys</h2>Press Esc</div><div><header>The mill</header>"
        f"<div><a href=#m>Skip</a></div><nav>{'Menu ' * 9}</nav><main><p>{said}</main></div>"
    )
    found = " ".join(passage["text"] for passage in passages(path))
    assert "The mill" in found and said in found
    assert ("Press Esc" in found) == ("Skip" in found) == read_too


def test_what_is_not_the_pages_text_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<title>T</title><nav>Home</nav><div role=navigation>Menu</div><header>The mill</header>"
        "<p>It has <del>two</del> <s>three</s><span style='text-decoration: line-through'> four"
        "</span> five wheels.</p><aside>Advert</aside><blockquote>Well built.<footer>Ida Storm"
        "</footer></blockquote><footer>Imprint</footer>"
    )
    [passage] = passages(path)
    assert passage["text"].split("\n\n") == [
        "The mill",
        "It has five wheels.",
        "Well built.",
        "Ida Storm",
    ]


def test_lists_keep_their_nesting_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<title>T</title><ol start=3><li>Open the valve<ul><li>by hand<li>slowly</ul><li value=7>"
        "<p>Close the gate</p><p>and lock it<br>twice</p></ol><ol type=a><li>One</ol>"
        "<dl><dt>Pump<dt>Motor<dd>moves water<dd>and oil<dt>Gate<dd><p>keeps it</dl>After."
    )
    assert passages(path)[0]["text"] == (
        "3. Open the valve\n  - by hand\n  - slowly\n7. Close the gate\n  and lock it\n  twice\n"
        "a. One\n\nPump, Motor: moves water\nPump, Motor: and oil\nGate: keeps it\n\nAfter."
    )


def test_the_items_around_an_item_are_repeated_in_the_next_passage(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    items = "".join(f"<li>{town} has a mill with {n} wheels" for n, town in enumerate(TOWNS))
    path.write_text(f"<title>T</title><p>The mills are:<ul><li>in Norway<ul>{items}</ul></ul>")
    found = passages(path)
    assert len(found) > 1
    for passage in found:
        assert passage["text"].startswith("The mills are:\n- in Norway\n  - ")


def test_code_keeps_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<title>T</title>Run<pre><code>if x:\n    go()\n</code></pre>and wait.")
    assert passages(path)[0]["text"] == "Run\n\n```\nif x:\n    go()\n```\n\nand wait."


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=px-9>PX-9</h2>",
        "<h2><a name=px-9></a>PX-9</h2>",
        "<section id=px-9><h2>PX-9</h2>",
        "<a id=px-9></a><h2>PX-9</h2>",
    ],
)
def test_a_passages_source_leads_to_its_heading(tmp_path: Path, heading: str) -> None:
    path = tmp_path / "guide.html"
    text = "<p>It moves water from the well to the tank, day and night, all year.</p>"
    path.write_text(
        f"<title>Guide</title>{text}{heading}{text}<h3>Parts</h3>{text}<h2>Last</h2>{text}"
    )
    sources = [passage["source"].removeprefix(str(path)) for passage in passages(path)]
    assert sources == ["", "#px-9", "#px-9", ""]


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<meta name=generator content='MediaWiki 1.45'><title>Aalto – Wikipedia</title>", "Alvar"),
        ("<title>Alvar Aalto – Wikipedia</title>", "Alvar Aalto – Wikipedia"),
        ("{}<title>Aalto: a life | Art  News</title>", "Aalto: a life"),
        ("{}<title>Art News - Aalto - a life</title>", "Aalto - a life"),
        ("{}<title>Aalto in Art News</title>", "Aalto in Art News"),
        ("{}", "Alvar"),
        ("<meta property=og:site_name><title>Aalto - a life</title>", "Aalto - a life"),
        ("<svg><title>icon</title></svg><title>Aalto</title>", "Aalto"),
    ],
)
def test_a_pages_title_is_read_without_its_sites_name(
    tmp_path: Path, head: str, title: str
) -> None:
    path = tmp_path / "page.html"
    site = "<meta property='og:site_name' content='Art News '>"
    heading = "<h1><i>Alvar</i></h1>"
    path.write_text(f"<head>{head.format(site)}</head><body>{heading}", encoding="utf-8")
    assert read(path)[0].title == title


@pytest.mark.parametrize(
    ("element", "seen"),
    [
        ("<p hidden>{}</p>", False),
        ("<div hidden=''><p>a<span>{}</span></p></div>", False),
        ("<p hidden=until-found>{}</p>", True),
        ("<p style='color: red; DISPLAY : None !important'>{}</p>", False),
        ("<p style='visibility: hidden;'>{}</p>", False),
        ("<p style='display:block; --display: none; display-x:none'>{}</p>", True),
        ("<p aria-hidden=true>{}</p>", True),
        ("<details>{}</details>", True),
        ("<span style='display: none'><math><mi>{}</mi></math></span>", True),
        ("<span hidden><b hidden><math><mi>{}</mi></math></b></span>", False),
        ("<body style='display:none'><p>{}</p></body>", True),
    ],
)
def test_hidden_elements_are_left_out(tmp_path: Path, element: str, seen: bool) -> None:
    path = tmp_path / "page.html"
    before = "" if "body" in element else "<p>Before.</p>"
    path.write_text(f"<title>T</title>{before}\n{element.format('it')}<p>After.")
    text = read(path)[0].text.split()
    assert text[-1] == "After." and ("it" in text) == seen


@pytest.mark.parametrize("tag", ["div", "td", "div hidden"])
def test_deeply_nested_html_takes_no_time(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "deep.html"
    end = f"</{tag.split()[0]}>"
    path.write_text(f"<p>top</p>{f'<{tag}>' * 20_000}x{end * 20_000}<p>bottom</p>")
    start = time.process_time()
    [document] = read(path)
    assert time.process_time() - start < 10
    assert "top" in document.text and "bottom" in document.text


@pytest.mark.parametrize(
    "charset, written, text",
    [
        ("iso-8859-1", "cp1252", "thé – café"),
        ("UTF-16", "utf-8", "Łódź"),
        ("UTF-16", "utf-16", "Łódź"),
        ("gb2312", "gbk", "朱镕基"),
        ("Shift_JIS", "cp932", "①髙島屋"),
        ("euc-kr", "cp949", "똠방각하"),
        ("big5", "big5hkscs", "碁"),
    ],
)
def test_html_is_decoded_as_browsers_do(
    tmp_path: Path, charset: str, written: str, text: str
) -> None:
    path = tmp_path / "page.htm"
    path.write_bytes(f'<meta charset="{charset}"><title>T</title>{text}'.encode(written))
    assert [document.text.strip() for document in read(path)] == [text]


def test_a_power_is_not_read_as_another_number(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<title>T</title>7 × 10<sup>6</sup> years, 10<sup>-3</sup> m, the 19<sup>th</sup>, "
        "in 1990<sup>[2]</sup>"
    )
    assert read(path)[0].text == "7 × 10^6 years, 10^-3 m, the 19th, in 1990[2]"
