"""The limited domain: top-k when nobody knows which items there are."""
