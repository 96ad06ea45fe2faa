"""Prompts, one file a role."""
