"""From text to a question: SQL statements and conditions, by a list of what is allowed."""
