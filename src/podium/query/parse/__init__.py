"""From text to a question: SQL statements and conditions, by an allow-list."""
