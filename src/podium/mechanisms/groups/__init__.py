"""A list for each group: what runs in every group, what it costs a user who is in a few of them, and fast draws."""
