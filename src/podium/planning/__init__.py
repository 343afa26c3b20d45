"""Planning: what to ask for, decided from public facts."""
