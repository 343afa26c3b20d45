"""Pictures of every page of the service: ``python -m tools.screens FOLDER``."""
