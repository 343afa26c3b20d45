"""What surrounds every request: access, limits, middleware, errors."""
