# Multiplies a list until memory ends.
kept = [0]
while True:
    kept *= 2
