"""What Tidebox adds to CPython: the command line, processes, and the memory that interpreters begin with."""
