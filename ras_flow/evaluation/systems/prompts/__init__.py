"""Prompts of the baselines, one file a system."""
