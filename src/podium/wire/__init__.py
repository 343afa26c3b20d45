"""The protocol between the service and its client: questions, refusals, and errors as RFC 9457 problems."""
