"""The command `tidebox`: the same as that of the Rust package."""

import signal
import sys

from ._native import run_command


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit code."""
    # Python's handler only runs between two of its instructions, and the command is one: Ctrl-C must end it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
