"""What the auditor can be pointed at: our mechanisms, pairs of inputs, whole sessions, a question end to end."""
