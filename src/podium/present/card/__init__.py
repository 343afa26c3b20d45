"""Release cards and their JSON schema."""
