"""Tests of ras_flow.kg."""
