"""Histograms whose noise is cut off at the threshold, so that nothing absent can pass it: Gaussian and Laplace."""
