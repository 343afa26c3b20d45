"""The statistical audit: black boxes, judged by what they return."""
