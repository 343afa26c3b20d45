"""Whole programs of other libraries beside podium: from a Parquet file to a top k, as their users write them."""
