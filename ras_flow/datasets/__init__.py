"""Files of published data sets: what training and evaluation read them with."""
