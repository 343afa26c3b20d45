"""Text for people: releases, budgets and timelines, plain or for a terminal."""
