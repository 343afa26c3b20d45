"""The newest mechanisms for unknown items, built from their authors' descriptions, beside podium's default."""
