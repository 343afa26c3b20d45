"""The tables of a ledger: their layout, their rows, and the statements that read and write them."""
