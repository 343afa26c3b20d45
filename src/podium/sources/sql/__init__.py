"""What every SQL engine shares: the query builder, and the source that runs its queries."""
