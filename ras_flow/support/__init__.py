"""Plumbing without a word of RAS in it."""
