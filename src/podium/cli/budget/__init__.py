"""``podium budget``: one file per command."""
