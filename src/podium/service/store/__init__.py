"""What the service itself remembers: tokens, sessions, data sets."""
