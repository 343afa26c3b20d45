"""The regimes of the utility bench: small and large tables, one item per user and heavy users, k from 1 to 1000."""
