"""The sparse vector technique and the two hybrids, all with a noisy public threshold."""
