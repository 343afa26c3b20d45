"""``podium token``: one file per command."""
