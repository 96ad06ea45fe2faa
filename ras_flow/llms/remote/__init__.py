"""Models that a server or a provider runs."""
