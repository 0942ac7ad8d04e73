# Recurses without end, after raising the limit of Python to its maximum.
import sys
sys.setrecursionlimit(2**31 - 1)


def down(depth):
    return down(depth + 1) + 1


try:
    down(0)
except (RecursionError, MemoryError) as error:
    print(type(error).__name__)
