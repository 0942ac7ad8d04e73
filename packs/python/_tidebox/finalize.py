"""Last step of building the memory: resets signal handlers to their defaults."""

import signal

from . import system

for _number in system.HANDLED:
    system.stock_signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)
