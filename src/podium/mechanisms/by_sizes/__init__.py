"""The mechanisms that first pay to learn how many items users have, and then choose how to find the top k."""
