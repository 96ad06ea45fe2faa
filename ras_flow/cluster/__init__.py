"""Work that many processes share, on one machine or several: units of work, done by Ray's workers.

:mod:`ras_flow.cluster.engine` says what an engine is, :mod:`ras_flow.cluster.workers` starts Ray's,
:mod:`ras_flow.cluster.parts` has models live there.
"""
