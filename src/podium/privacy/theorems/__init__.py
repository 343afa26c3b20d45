"""Accounting theorems, one file each: bounds, optima, conversions and profiles."""
