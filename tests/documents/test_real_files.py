"""Passages of real files: tables with their columns, lists, headings, pages; nothing hidden."""

from __future__ import annotations

import pytest

from tests.documents.samples import DATA, passages

EXPECTED = {
    "ferry.docx": [
        ("Ferry manual › Vessels", "", "Vessel: Ylva; Built: -; Passengers: 48"),
        ("Ferry manual › Vessels › Fuel", "", "takes is F=(d⋅v^2)/k_0, where k_0=36."),
        ("Ferry manual › Vessels › Fuel", "", "Measured in calm water."),
        ("Ferry manual › Vessels › Fuel", "", "∑_(i=1)^n x_i≤∛(8)"),
        ("Ferry manual › Before departure", "", "2. Check the lamps:\n  a. the green one,\n"),
        ("Ferry manual › Before departure", "", "- Rafts lie on deck."),
        ("Ferry manual › Before departure", "", "7. Cast off.\n8. Sound the horn."),
    ],
    "lighthouse.docx": [
        ("The lens", "", "Kettle Island Light Trust, Harsund\n\nFile no. 48-1177, page"),
        ("The lens", "", "was ground in Paris. It throws 10^6 candela."),
        ("The lens › Keepers", "", "Years: 1990–1999; Keeper: Eva Lund; Assistant: Nils Berg"),
        ("The lens › Keepers", "", "Years: 2000–2018; Keeper, Assistant: nobody"),
    ],
    "pump_house.pdf": [
        ("The pump house of Harsund", "page=1", "Harsund Waterworks"),
        ("… › The building", "page=1", "it is a building of extraordinary monumentality, standing"),
        ("… › The building", "page=1", "with a weatherproof design, for which the administration"),
        ("… › The building › Pumps", "page=2", "North 1915 44\nSouth 1951"),
    ],
    "berth.pdf": [
        ("Berth request", "page=1", "Name of the vessel: Skarv"),
        ("Berth request", "page=1", "Shore power: yes\n\nFresh water: no\n\nQuay: North"),
        ("Berth request", "page=1", "Note: Anna: the crane is out of order until May."),
    ],
    "island.pptx": [
        ("… › The lighthouse", "page=2", "- Keeper: Anna Brun\n  - since 2019"),
        ("… › The lighthouse", "page=2", "Notes: The lamp was changed to LED in 2016."),
        ("… › Visitors", "page=3", "Year: 2022; Visitors: -"),
    ],
    "stock.xlsx": [
        ("stock › Pumps", "", "the store of Harsund\nPump: HX-4; Pieces: 12; Price: 1090.50 €"),
        ("stock › Pumps", "", "Rebate: 25%; Bought: 2024-03-05"),
        ("stock › Pumps", "", "Pump: All; Pieces: 15"),
        ("stock › Staff", "", "Name: Anna Brun; On duty: 1"),
    ],
    "crossings.csv": [
        ("crossings", "row=2", "Day: Tuesday; a holiday; Vessel: -; Passengers: 0"),
    ],
    "depths.tsv": [("depths", "row=1", "Depth: 12 m")],
    "reader.epub": [
        ("… › The keeper", "the-keeper", "Anna Brun kept the light from 2019."),
        ("… › The keeper › Her boat", "her-boat", "called Skarv.\n\nShe came from Harsund."),
        ("… › The storm", "the-storm", "Damage: Sheds; Cost: -"),
    ],
    "tides.md": [
        ("Tides at Harsund › Gauges", "gauges", "Gauge: Weir; Set up: -; Range: 0.9 m"),
        ("Tides at Harsund › Gauges", "gauges", "tide --gauge mole"),
    ],
    "shipyard.html": [
        ("The shipyard", "yard", "The yard built eleven ferries."),
        ("The shipyard › Docks", "docks", "Year: 1990; Dock: West; Length: -"),
        ("The shipyard › Docks", "docks", "3. Flood the dock.\n4. Open the gate."),
    ],
    "pier.txt": [("pier", "", "2. Dogs are kept on a lead.")],
}
UNSEEN = {
    "lighthouse.docx": ["9,000", "1899"],
    "pump_house.pdf": ["Page 1", "\xad"],
    "stock.xlsx": ["HX-5", "None"],
    "tides.md": ["broken"],
    "shipyard.html": ["Home", "nine", "Printed"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_files_passages_have_what_it_shows(name: str) -> None:
    found = passages(DATA / name)
    for title, fragment, text in EXPECTED[name]:
        [passage] = [one for one in found if text in one["text"]]
        assert passage["title"].endswith(title.removeprefix("…"))
        assert passage["source"] == f"{DATA / name}{fragment and '#'}{fragment}"
    for text in UNSEEN.get(name, ()):
        assert not any(text in one["text"] for one in found)
