"""Word's XML made plain: what a reader sees becomes text, and what is not shown goes."""

from __future__ import annotations

import re
from typing import Any

from ras_flow.documents.equations import MATH, equation_text
from ras_flow.documents.shared import RAISED
from ras_flow.documents.word_lists import WORD, value
from ras_flow.documents.word_styles import Styles, is_on
from ras_flow.support.extras import require

_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_GONE = (f"{WORD}del", f"{WORD}moveFrom", f"{_COMPATIBLE}Fallback")
"""Elements with text that was deleted, or that also stands elsewhere."""
_AROUND = (
    *map(WORD.__add__, "ins moveTo sdt sdtContent fldSimple smartTag customXml".split()),
    *map(_COMPATIBLE.__add__, ("AlternateContent", "Choice")),
    f"{MATH}oMathPara",
)
"""Elements around paragraphs, rows and runs, which python-docx does not look into."""
_PAGE = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b")
_SYMBOLS = (
    "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧ∆ΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|―↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑",
)
"""The font Symbol: its characters from 0x21 and from 0xA0 on."""
_WINGDINGS = {0xFC: "✓", 0xFB: "✗", 0xFE: "☑", 0xFD: "☒", 0xA8: "☐", 0x6F: "☐", 0x71: "☐"} | {
    0xE0: "→", 0xDF: "←", 0xE1: "↑", 0xE2: "↓", 0x4A: "☺", 0x6C: "●", 0x6E: "■", 0xA7: "▪"
}  # fmt: skip


def make_plain(root: Any, styles: Styles) -> None:
    """Leave out deleted and hidden text; write equations, symbols and raised numbers as text."""
    from lxml import etree  # noqa: PLC0415

    etree.strip_elements(root, *_GONE, with_tail=False)
    etree.strip_tags(root, *_AROUND)
    for equation in list(root.iter(f"{MATH}oMath")):
        _replace(equation, equation_text(equation).strip(), run=True)
    for symbol in list(root.iter(f"{WORD}sym")):
        _replace(symbol, _symbol(symbol), run=False)
    hidden_row = f"{WORD}trPr/{WORD}hidden"
    for element in list(root.iter(f"{WORD}r", f"{WORD}tr")):
        if is_on(element.find(hidden_row)) or _is_hidden(element, styles):
            element.getparent().remove(element)
        elif value(element, "rPr", "vertAlign") == "superscript":
            element.text = f"{RAISED}{element.text}"


def without_page_numbers(root: Any) -> None:
    """Take the numbers of pages out of a header or footer, and lines that are nothing else."""
    for paragraph in list(root.iter(f"{WORD}p")):
        fields = [
            field
            for field in paragraph.iter(f"{WORD}fldSimple")
            if _PAGE.match(field.get(f"{WORD}instr", ""))
        ]
        inside: list[Any] = []
        for run in paragraph.iter(f"{WORD}r"):
            kinds = {one.get(f"{WORD}fldCharType") for one in run.iter(f"{WORD}fldChar")}
            if inside or "begin" in kinds:
                inside.append(run)
            if "end" in kinds:
                codes = (one.text or "" for run in inside for one in run.iter(f"{WORD}instrText"))
                fields += inside if _PAGE.match("".join(codes)) else []
                inside = []
        for field in fields:
            field.getparent().remove(field)
        if fields and len(re.findall(r"\w+", paragraph.text)) <= 2:  # "Page of"
            paragraph.getparent().remove(paragraph)


def _is_hidden(run: Any, styles: Styles) -> bool:
    own = run.find(f"{WORD}rPr/{WORD}vanish")
    if own is not None or not styles.hidden:
        return is_on(own)
    above = run.getparent()
    names = {value(run, "rPr", "rStyle"), value(above, "pPr", "pStyle")}
    return not styles.hidden.isdisjoint(names)


def _replace(element: Any, text: str, *, run: bool) -> None:
    make = require("docx.oxml", extra="documents").OxmlElement
    plain = make("w:t")
    plain.text = text
    if run:
        around = make("w:r")
        around.append(plain)
        plain = around
    plain.tail = element.tail
    element.getparent().replace(element, plain)


def _symbol(symbol: Any) -> str:
    """Return the character that a symbol font draws; empty for an unknown picture."""
    font = symbol.get(f"{WORD}font", "").lower()
    try:
        code = int(symbol.get(f"{WORD}char", ""), 16)
    except ValueError:
        return ""
    low = code & 0xFF
    if font.startswith("wingdings"):
        return _WINGDINGS.get(low, "")
    if font == "symbol":
        half, start = (_SYMBOLS[1], 0xA0) if low >= 0xA0 else (_SYMBOLS[0], 0x21)
        return half[low - start] if 0 <= low - start < len(half) else ""
    return "" if 0xE000 <= code <= 0xF8FF or not 31 < code < 0x110000 else chr(code)
