"""What the service and its client say to each other: questions, refusals, and errors as problems."""
