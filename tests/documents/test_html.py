"""HTML: what a reader sees of a page."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.documents.samples import LONG, read, words


@pytest.mark.parametrize(
    ("page", "paragraphs"),
    [
        (
            "<html><head><title>The\n page</title><style>p {color: red}</style></head><body>"
            "<h1>Heading</h1><script>alert('x')</script><p>One <b>bold</b>. Two</p><p>Three<br>"
            "four<table><tr><td>a</td><td>b</td></tr></table>&lt;tag&gt; &amp; é</body></html>",
            ["Heading", "One bold. Two", "Three four", "a b", "<tag> & é"],
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


@pytest.mark.parametrize("tag", ["main", "nav", "p", "my-page"])
def test_html_without_a_body_tag_is_read(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8><title>T</title><style>p {}</style>"
        f"<{tag}>One<p>two</p></{tag}><p>three"
    )
    [document] = read(path)
    assert (document.title, document.text.split()) == ("T", ["One", "two", "three"])


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<title>Radium</title><nav>Home</nav><h1>Ra<i>dium</i></h1>It glows.", "Home It glows."),
        ("<h1>Radium</h1>It glows.<h1>Radium</h1>", "It glows. Radium"),
        ("<title>On radium</title><h1>Radium</h1>It glows.", "Radium It glows."),
        ("<title>Radium</title><h1>Radium</h1>", "Radium"),
        (f"<h1>{LONG}</h1>It glows.", f"{LONG}It glows."),
    ],
)
def test_a_heading_that_is_the_title_is_cut_off_the_text(
    tmp_path: Path, page: str, text: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page)
    assert words(read(path)[0].text) == text


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
