"""Lists that keep up to date: a new private top k every period, all of them inside one budget."""
