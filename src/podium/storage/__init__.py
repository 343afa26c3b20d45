"""What ledger and service are built on: SQLite and PostgreSQL, network mounts, and which process owns what."""
