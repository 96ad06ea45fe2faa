"""Tables to rows with the names of their columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.documents.tables import Cell, table_blocks
from tests.documents.samples import TOWNS, passages


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            "<tr><th>Office<th>Office manager<tr><td>Lisbon<td>Tomás Ferreira<tr><td>Porto<td>",
            ["Office: Lisbon; Office manager: Tomás Ferreira", "Office: Porto; Office manager: -"],
        ),
        (
            "<tr><th>Year<th>Winner<tr><td rowspan=2>1990<td>Ida Storm<tr><td>Eva Lund",
            ["Year: 1990; Winner: Ida Storm", "Year: 1990; Winner: Eva Lund"],
        ),
        (
            "<tr><th rowspan=2>Pump<th colspan=2>Sold in<tr><th>2019<th>2020<tr><td>PX-5<td>7<td>9"
            "<tr><td>PX-9<td colspan=2>none",
            [
                "Pump: PX-5; Sold in 2019: 7; Sold in 2020: 9",
                "Pump: PX-9; Sold in 2019, Sold in 2020: none",
            ],
        ),
        (
            "<tr><td>Name<td>Town<td>Wheels<tr><td>Kvern<td>Halden<br>Moss<td><b>3</b>",
            ["Name: Kvern; Town: Halden, Moss; Wheels: 3"],
        ),
        ("<tr><th>Born<td>1 May<tr><th>Died<td>2 June", ["Born: 1 May", "Died: 2 June"]),
        ("<tr><td>Phone<td>47 18<tr><td>Town<td>Moss", ["Phone: 47 18", "Town: Moss"]),
        (
            "<caption>Mills</caption><tr><th>Mill<th>Wheels<tr><td colspan=2>In Norway<tr><td>Kvern"
            "<td>3<tr><td colspan=2>* in use",
            ["Mills", "In Norway", "Mill: Kvern; Wheels: 3", "", "* in use"],
        ),
        ("<tr><th>Only<th>heads", ["Only: heads"]),
        (
            "<tr><th><th>Town<th><th>Wheels<tr><td>Kvern: the old<td>Halden<td>closed<td>3"
            "<tr><td>Sag<td>Moss<td><td>2",
            ["-: Kvern: the old; Town: Halden; -: closed; Wheels: 3", "Sag; Town: Moss; Wheels: 2"],
        ),
        ("<tr><td><h2>Placed</h2><td>on the page", ["on the page"]),
    ],
)
def test_each_row_names_its_columns(tmp_path: Path, table: str, rows: list[str]) -> None:
    path = tmp_path / "table.html"
    path.write_text(f"<title>T</title><table>{table}</table>", encoding="utf-8")
    assert passages(path)[-1]["text"].split("\n") == rows


def test_a_table_that_is_cut_repeats_what_its_rows_need(tmp_path: Path) -> None:
    path = tmp_path / "table.html"
    rows = "".join(f"<tr><td>{town}<td>{at}<td>{at + 50}" for at, town in enumerate(TOWNS))
    path.write_text(
        "<title>T</title>Of these towns we know:<table><caption>Towns</caption>"
        f"<tr><th>Town<th>Founded<th>Hospital beds{rows}</table>"
    )
    found = [passage["text"].split("\n") for passage in passages(path)]
    assert len(found) > 3
    for lines in found:
        assert lines[:2] == ["Of these towns we know:", "Towns"]
        assert all(line.startswith("Town: ") and "; Hospital beds: " in line for line in lines[2:])
    assert sum(map(len, found)) == len(TOWNS) + 2 * len(found)


def test_a_row_longer_than_a_passage_is_cut_between_cells_and_named(tmp_path: Path) -> None:
    path = tmp_path / "table.html"
    heads = "".join(f"<th>Column {at}" for at in range(60))
    cells = "".join(f"<td>value {at}" for at in range(60))
    path.write_text(f"<title>T</title><table><tr>{heads}<tr>{cells}</table>")
    found = [passage["text"] for passage in passages(path)]
    assert len(found) > 1 and all(text.startswith("Column 0: value 0; Column ") for text in found)


CELLS = st.builds(
    Cell,
    st.sampled_from(["", "a", "b c", "7"]),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 3),
)


@given(st.lists(st.lists(CELLS, max_size=4), max_size=5), st.sampled_from(["", "Caption"]))
def test_no_cell_is_lost(rows: list[list[Cell]], caption: str) -> None:
    blocks = list(table_blocks(rows, caption))
    written = " ".join(" ".join([*block.lead, block.text]) for block in blocks)
    for row in rows:
        for cell in row:
            assert cell.is_head or cell.text in written
    assert caption in written or not any(cell.text for row in rows for cell in row)
