"""What a person may change in a run: one JSON form for command line, page, SDK and reviews."""
