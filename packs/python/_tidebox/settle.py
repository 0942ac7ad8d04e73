"""The last step of making the memory: signals are as a program finds them."""

import signal

from . import system

for _number in system.HANDLED:
    system.stock_signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)
