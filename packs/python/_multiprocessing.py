"""Stub: multiprocessing is not supported, because no second interpreter process can be forked."""

raise ImportError("multiprocessing cannot start interpreters in this sandbox; subprocess starts programs, sys.executable among them")
