"""Spark: a session of the caller, a standalone master, or Spark Connect."""
