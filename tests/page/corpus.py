"""Texts of the test documents: passages by title, each sentence with the triples it states."""

from __future__ import annotations

Sentence = tuple[str, list[tuple[str, str, str]]]


def read(text: str) -> dict[str, list[Sentence]]:
    """Read titles after a hash, and below each sentence its triples, which are indented."""
    found: dict[str, list[Sentence]] = {}
    for line in filter(None, text.split("\n")):
        if line.startswith("# "):
            sentences = found.setdefault(line.removeprefix("# "), [])
        elif not line.startswith(" "):
            sentences.append((line, []))
        else:
            subject, predicate, object = line.strip().split(" | ")
            sentences[-1][1].append((subject, predicate, object))
    return found


BRIDGES = read("""
# Aurora Bridge
The Aurora Bridge is a cable-stayed bridge over the Skarfjord.
  Aurora Bridge | type | cable-stayed bridge
  Aurora Bridge | crosses | Skarfjord
Mira Lund won the competition for its design in 1957.
  Aurora Bridge | designed by | Mira Lund
It was opened to traffic in June 1961.
  Aurora Bridge | opened in | 1961
# Skarfjord
The Skarfjord is a narrow inlet on the coast of Helgeland.
  Skarfjord | located in | Helgeland
Ferries crossed it until the Aurora Bridge replaced them.
# Bridges of Helgeland
Three large bridges carry the coastal road through Helgeland.
  coastal road | runs through | Helgeland
The oldest of them, the Aurora Bridge, cost eleven million crowns.
  Aurora Bridge | cost | 11 million crowns
# Harbour Bridge
The Harbour Bridge was designed by Leo Fahr, a pupil of Mira Lund.
  Harbour Bridge | designed by | Leo Fahr
  Leo Fahr | pupil of | Mira Lund
Its towers are of granite from the hills near by.
# Leo Fahr
Leo Fahr worked in the office of Lund & Sons before he founded his own.
  Leo Fahr | worked for | Lund & Sons
# Lund & Sons
The office of Lund & Sons was led by Mira Lund from 1949 on.
  Lund & Sons | led by | Mira Lund
It had its seat in Trondheim and built forty bridges.
  Lund & Sons | seat in | Trondheim
# Cable-stayed bridges
In a cable-stayed bridge the deck hangs from cables that run straight to the towers.
  cable-stayed bridge | has part | towers
# Ferries of the north
The ferry Havørn served the Skarfjord for thirty years.
  Havørn | served | Skarfjord
# Design competitions of 1957
The jury of the bridge competition was chaired by Arne Vik.
  Arne Vik | chaired | bridge competition
Its first prize went to Mira Lund.
  Mira Lund | won | bridge competition
""")

BIRTHPLACES = read("""
# Mira Lund (engineer)
Mira Lund was a Norwegian engineer of long bridges.
  Mira Lund | occupation | engineer
She was born in Elvestad, where her father kept the lock of the canal.
  Mira Lund | place of birth | Elvestad
She studied in Trondheim and later in Zürich.
  Mira Lund | studied in | Trondheim
  Mira Lund | studied in | Zürich
# Mira Lund (painter)
Mira Lund painted harbours and storms; critics called her the eye of the coast.
  Mira Lund | occupation | painter
Born in Vargnes, she moved to Paris at the age of nineteen.
  Mira Lund | born in | Vargnes
  Mira Lund | moved to | Paris
# Engineers of Trondheim
Trondheim trained a generation of engineers, Mira Lund and Arne Vik among them.
  Arne Vik | studied in | Trondheim
# Lund (family)
The Lund family kept locks and mills along the canal of Elvestad.
  Lund family | kept locks in | Elvestad
Mira Lund was its best known member.
  Mira Lund | member of | Lund family
# Trondheim
Trondheim is a city in central Norway.
  Trondheim | country | Norway
# Painters of the coast
Vargnes drew many painters for the light of its winters.
  Vargnes | known for | painters
# Zürich
Zürich is the largest city of Switzerland.
  Zürich | country | Switzerland
""")

WRONG_RIVER = read("""
# Vargnes
Vargnes is a fishing town at the mouth of the Tverra.
  Vargnes | lies on | Tverra
  Vargnes | type | fishing town
Its church of 1774 is the work of an unknown master.
# Tverra
The Tverra is a river of 48 kilometres that rises on the Børgefjell.
  Tverra | type | river
  Tverra | rises on | Børgefjell
# Rivers of the north
Among the rivers of the north, the Tverra carries the most salmon.
  Tverra | carries | salmon
# Børgefjell
Børgefjell is a mountain range in Norway.
  Børgefjell | country | Norway
""")

RIGHT_RIVER = read("""
# Elvestad
Elvestad is a town on the Glåma with a canal and four locks.
  Elvestad | lies on | Glåma
  Elvestad | has part | canal
# Glåma
The Glåma is the longest river of Norway.
  Glåma | type | river
  Glåma | longest river of | Norway
# Canal of Elvestad
The canal of Elvestad, finished in 1849, leads past the rapids of the Glåma.
  canal | leads past | Glåma
  canal | finished in | 1849
# Locks and mills
Most locks of the Glåma were closed by 1960.
  Glåma | has part | locks
# Rivers of the north
Among the rivers of the north, the Tverra carries the most salmon.
  Tverra | carries | salmon
""")
