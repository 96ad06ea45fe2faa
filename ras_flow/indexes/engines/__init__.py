"""Vector databases in place of an index on disk, named by a small TOML file."""
