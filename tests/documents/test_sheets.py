"""Tables of Excel and CSV files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.comments import Comment

from ras_flow.documents.number_formats import shown_number
from ras_flow.errors import DocumentError
from tests.documents.samples import read


def write(path: Path, fill: Callable[[Any], None]) -> Path:
    book = Workbook()
    fill(book.active)
    book.save(path)
    return path


def test_tables_of_a_sheet_are_parted_by_empty_rows_and_columns(tmp_path: Path) -> None:
    def fill(sheet: Any) -> None:
        for row in [
            ("Pump", "Price", None, "Quay", "Depth"),
            ("A", "#DIV/0!", None, "North", 4),
            (),
            ("Staff",),
            ("Name", "Age"),
            ("Ada", 36),
        ]:
            sheet.append(row)
        sheet.merge_cells("A4:B4")
        sheet["A6"].comment = Comment("on leave", "K.")

    [document] = read(write(tmp_path / "harbour.xlsx", fill))
    assert document.title == "harbour", "the only sheet's name was the program's"
    assert [(block.text, block.lead) for block in document.blocks] == [
        ("Pump: A; Price: -", ()),
        ("Quay: North; Depth: 4", ()),
        ("Name: Ada; Age: 36", ("Staff",)),
        ("Note on A6: on leave", ()),
    ]


def test_what_is_hidden_or_not_calculated_is_told(tmp_path: Path) -> None:
    def fill(sheet: Any) -> None:
        for row in (("Name", "Key", "Sum"), ("Ada", "secret", "=1+1"), ("Bo", "secret", 3)):
            sheet.append(row)
        sheet.column_dimensions["B"].hidden = True
        other = sheet.parent.create_sheet("Old")
        other["A1"], other.sheet_state = "gone", "hidden"

    [document] = read(write(tmp_path / "a.xlsx", fill))
    assert "secret" not in document.text and "Name: Bo; Sum: 3" in document.text
    assert "3 cells of Sheet" in document.gap and "Old" in document.gap
    assert "1 formulas" in document.gap


@pytest.mark.parametrize("area", ['"A1:XFD9999"', "'$A$1:$XFD$9999'"])
def test_a_sheet_that_claims_millions_of_merged_cells_is_refused(tmp_path: Path, area: str) -> None:
    path = write(tmp_path / "whole.xlsx", lambda sheet: sheet.merge_cells("A1:B2"))
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as changed:
        for name in whole.namelist():
            changed.writestr(name, whole.read(name).replace(b'"A1:B2"', area.encode()))
    with pytest.raises(DocumentError, match="merged cells"):
        read(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    ("number", "pattern", "shown"),
    [
        (0.255, "0.0%", "25.5%"),
        (1234.5, '#,##0.00 "€"', "1234.50 €"),
        (1234.0, "[$£-809]#,##0", "£1234"),
        (-3, '0;[Red]"("0")"', "(3)"),
        (-3, "0;[Red]-0", "-3"),
        (12.0, '0.##" kg"', "12 kg"),
        (2_500_000, '0.0,,"M"', "2.5M"),
        (0.1 + 0.2, "General", "0.3"),
        (12, "0.00E+00", "12"),
    ],
)
def test_a_number_is_read_with_its_unit(number: float, pattern: str, shown: str) -> None:
    assert shown_number(number, pattern) == shown


@given(st.floats(), st.text(alphabet='0#?.,;%"[]$€-\\_*E+/@x ', max_size=20))
@example(1e308, "0%%%")
def test_any_format_shows_something(number: float, pattern: str) -> None:
    assert isinstance(shown_number(number, pattern), str)


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", 'Name,Note\n"Falk, Ines","two\nlines"\n', ["Name: Falk, Ines; Note: two lines"]),
        ("a.csv", "Name;Price\nA;1,5\nB;\n", ["Name: A; Price: 1,5", "Name: B; Price: -"]),
        ("a.csv", "1;2;3\n4;5;6\n", ["1; 2; 3", "4; 5; 6"]),
        ("a.tsv", "Name\tBorn\nAda, Countess\t1815\n", ["Name: Ada, Countess; Born: 1815"]),
        ("a.csv", "one column\nof lines\n", ["one column: of lines"]),
    ],
)
def test_rows_of_csv_files(tmp_path: Path, name: str, content: str, rows: list[str]) -> None:
    (tmp_path / name).write_text(content)
    [document] = read(tmp_path / name)
    assert [block.text for block in document.blocks] == rows


def test_a_row_of_a_csv_file_keeps_its_number_whoever_finds_the_heads(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Name,Town,Age\nAda,London,36\n\nBo,Oslo,40,\n")
    [document] = read(tmp_path / "a.csv")
    assert [(block.text, block.anchor) for block in document.blocks] == [
        ("Name: Ada; Town: London; Age: 36", "row=2"),
        ("Name: Bo; Town: Oslo; Age: 40", "row=4"),
    ]
