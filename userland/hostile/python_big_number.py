# Computes a number with a hundred million digits, and its decimal form.
import sys
sys.set_int_max_str_digits(0)
print(len(str(10**10**8)))
