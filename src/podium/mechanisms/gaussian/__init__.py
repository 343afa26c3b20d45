"""Mechanisms with Gaussian noise: sparse histograms, set union, adaptive rounds and their border."""
