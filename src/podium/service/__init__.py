"""The service: many analysts, one budget, an API and pages to look at; and the client that speaks to it.

``podium serve`` starts it. Nothing here is imported by the library itself, and the client needs no web library.
"""
