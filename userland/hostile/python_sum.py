# Spends all its time in one call of a function that is written in C.
print(sum(range(10**15)))
