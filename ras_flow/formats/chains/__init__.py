"""Evidence chains: triples as paths from the question's entities (ReG §4.2, algorithm 1).

Names identify entities here: two that are equal are one entity.
"""

from ras_flow.formats.chains.answers import last_line, match_answers, read_answers
from ras_flow.formats.chains.expansion import ChainForm
from ras_flow.formats.chains.reorganising import Reorganised, reorganise
from ras_flow.formats.chains.writing import format_chains, write_chain

__all__ = [
    "ChainForm",
    "Reorganised",
    "format_chains",
    "last_line",
    "match_answers",
    "read_answers",
    "reorganise",
    "write_chain",
]
