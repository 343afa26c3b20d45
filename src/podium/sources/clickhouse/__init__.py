"""ClickHouse: a server, or embedded (chDB)."""
