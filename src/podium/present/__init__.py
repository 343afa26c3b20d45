"""Presenting: releases as people want to see them."""

from podium.present.text.release_text import release_text

__all__ = ["release_text"]
