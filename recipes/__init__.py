"""How the shipped weights were made: data sets, simulators, cleaners. Not part of the wheel."""
