"""Planning: mechanism, parameters and worst case, chosen from public facts."""
