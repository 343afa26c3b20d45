"""The canonical Lipschitz mechanism: the k best items as a set, chosen at once."""
