"""Training data: one record format, converters of published data sets, and HotpotQA-SUBQ."""
