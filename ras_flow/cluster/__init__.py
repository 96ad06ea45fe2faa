"""Ray's room: an engine of worker processes on one machine or several, and models that live there.

It builds on indexes, models and parts; nothing but the command line imports it.
:mod:`ras_flow.cluster.workers` is the :class:`~ras_flow.support.engine.Engine`,
:mod:`ras_flow.cluster.parts` has models work there.
"""
