"""Sentences about the ways that a list may be found in: which is taken when, and how often the table is counted."""

__all__ = [
    "IN_ROUNDS",
    "LONG_SIZED_PATHS",
    "ONCE",
    "SHORT_SIZED_PATHS",
    "SIZED_PATHS",
    "WHY_SHORT",
    "WHY_SIZED",
]

ONCE = "One way, which reads the table once."
IN_ROUNDS = "One way, which reads the table once and counts its distinct pairs at most {} times."
LONG_SIZED_PATHS = (
    "The table is read once, and its distinct pairs are counted: once for the numbers of users, then once with Laplace "
    "noise if most users have one item; once with whatever has the lowest threshold if so little can be found that "
    "only finding matters; otherwise at most 8 times in rounds."
)
SIZED_PATHS = f"{LONG_SIZED_PATHS} Or once for successive selections, if users have very many items."
SHORT_SIZED_PATHS = (
    "The table is read once, and its distinct pairs are counted: once for successive selections if the list is far "
    "ahead; otherwise again for the number of users with one item, and once more with Laplace noise if most have one."
)
WHY_SIZED = (
    "The items are not known beforehand, and what finds most of them depends on how many items users have: a "
    "twentieth of epsilon pays for noisy numbers of users by their number of items, and these choose."
)
WHY_SHORT = (
    "The items are not known beforehand. Successive selections find so few of them well, unless most users have one "
    "item: a twentieth of epsilon pays for noisy numbers of users with one item and with more. Nothing of this is "
    "asked if an eightieth of epsilon shows that the list is far ahead."
)
