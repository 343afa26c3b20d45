"""The mechanism that first pays to learn how many items users have, and then chooses how to find the top k."""
