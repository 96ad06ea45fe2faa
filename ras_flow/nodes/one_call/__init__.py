"""The loop with one call a hop: the call that reads a hop notes its facts and names the next step.

``to_triples`` makes the call; ``plan`` and ``answer`` take what came with it.
"""

from ras_flow.nodes.one_call.answer import answer
from ras_flow.nodes.one_call.plan import plan
from ras_flow.nodes.one_call.to_triples import to_triples

__all__ = ["answer", "plan", "to_triples"]
