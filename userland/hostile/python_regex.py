# Matches a pattern that needs exponential time.
import re
print(re.match(r"(a|aa|a?)+$", "a" * 64 + "b"))
