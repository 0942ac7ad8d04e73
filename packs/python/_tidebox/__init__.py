"""Tidebox's additions to CPython: the command line, processes, and the pre-initialized memory of interpreters."""
