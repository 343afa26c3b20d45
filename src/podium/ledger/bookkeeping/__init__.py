"""How an account adds up what it is charged: one kind of books for each kind of filter."""
