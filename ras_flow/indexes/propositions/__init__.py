"""The proposition index: a corpus's triples as texts, to be searched instead of its passages.

It stands in the folder of the passages' index, one for each extractor, and is written like it:
incrementally, and as generations between which its manifest switches.
"""
