# Deeply nested parentheses as arguments of test.
test @\( *10000@ x @ \)*10000@
