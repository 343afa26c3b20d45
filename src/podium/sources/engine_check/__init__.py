"""What ``podium check`` asks an engine, on constants: no table of the user is read or described."""
