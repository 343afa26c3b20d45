"""Mutations that must not survive: privacy-critical lines, each changed in one value, with the tests that must notice.

``python -m tools.mutants`` (``make mutants``) applies them one at a time in a private copy of the tree. To add one, add
a line to a list in ``tools/mutants/lists``.
"""
