"""Benchmarks: ratios against peers, measured side by side. ``python -m bench`` runs them all."""
