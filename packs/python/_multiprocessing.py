"""There is no second interpreter to share work with: what needs one is told so."""

raise ImportError("multiprocessing cannot start interpreters in this sandbox; subprocess starts programs, sys.executable among them")
