# Writes to its standard output without end.
import sys
while True:
    sys.stdout.write("y" * 10_000)
