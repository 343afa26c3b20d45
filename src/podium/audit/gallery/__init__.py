"""Mechanisms that are not private as claimed, and which the auditor must catch: what a reviewer should try first.

None of them can be used for a release: they are samplers for the auditor, not mechanisms.
"""

from podium.audit.gallery.errata import ERRATA
from podium.audit.gallery.everyday import EVERYDAY
from podium.audit.gallery.exhibit import Caught, Exhibit, catch, gallery_text

__all__ = ["GALLERY", "Caught", "Exhibit", "catch", "gallery_text"]

GALLERY: tuple[Exhibit, ...] = (*ERRATA, *EVERYDAY)
