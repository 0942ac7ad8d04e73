# Parentheses within parentheses, for test.
test @\( *10000@ x @ \)*10000@
