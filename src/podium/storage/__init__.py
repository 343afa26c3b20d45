"""The databases that ledger and service stand on: SQLite and PostgreSQL, and whose process holds what."""
