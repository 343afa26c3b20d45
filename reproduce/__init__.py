"""The results of the papers, computed again: ``python -m reproduce [--quick] [NAME ...]``."""
