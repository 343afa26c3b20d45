"""The service: an HTTP API and web pages for many analysts who share one budget.

``podium serve`` starts it. The library itself imports nothing from here.
"""
