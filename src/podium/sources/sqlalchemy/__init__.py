"""Any other database that SQLAlchemy can reach."""
