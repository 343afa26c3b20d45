"""The exact audit: whole output distributions on small worlds, compared in certified arithmetic."""
