"""Snowflake, through its official client; run against an emulator, not against the real service."""
