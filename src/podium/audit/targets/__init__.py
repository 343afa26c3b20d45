"""What the auditor can be pointed at: podium mechanisms, pairs of inputs, whole sessions, a question end to end."""
