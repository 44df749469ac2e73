"""The client of Footfall's API for Python 3.11 and newer, without dependencies."""

from .client import ApiError, Client, each, pages

__all__ = ["ApiError", "Client", "each", "pages"]
