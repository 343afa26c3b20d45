"""Groups: every list of a question in the same queries, however many there are."""
