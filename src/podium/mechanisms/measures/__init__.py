"""Selections by events or amounts: sums of what users contribute, clipped at a stated or a privately chosen bound."""
