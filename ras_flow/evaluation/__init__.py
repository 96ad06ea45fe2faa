"""Measures of what parts and runs are worth."""
