"""The joint exponential mechanism: the k best items in order, chosen at once."""
