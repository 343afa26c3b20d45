"""The version of podium, for whoever needs it without the package's other names."""

__all__ = ["__version__"]

__version__ = "0.2.0"
