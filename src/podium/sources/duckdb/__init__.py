"""DuckDB, embedded: files on this machine, frames in memory, DuckDB databases."""
