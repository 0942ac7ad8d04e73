# Delays its end: exit functions, finalizers and threads that never end.
import atexit, sys


class Undead:
    def __del__(self):
        while True:
            pass


@atexit.register
def again():
    while True:
        pass


kept = Undead()
sys.exit(0)
