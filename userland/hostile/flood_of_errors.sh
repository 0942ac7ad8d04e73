# The same to standard error.
yes >&2
