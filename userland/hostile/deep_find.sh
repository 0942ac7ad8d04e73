# Deeply nested parentheses as arguments of find.
find . @\( *10000@ -true @ \)*10000@
