"""The error of an adapter whose framework is not installed."""

from __future__ import annotations


def missing_framework(extra: str, error: ImportError) -> ImportError:
    """Returns an error that names the missing package and the extra which installs it.

    Args:
        extra: Name of the extra of the package `tidebox`.
        error: The error of the import.
    """
    text = f'{error}; install the framework with: pip install "tidebox[{extra}]"'
    return ImportError(text, name=error.name, path=error.path)
