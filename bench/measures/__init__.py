"""How much the clip of sums costs: generated and real amounts, against the best clip by hindsight and other rules."""
