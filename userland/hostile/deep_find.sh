# Parentheses within parentheses, for find.
find . @\( *10000@ -true @ \)*10000@
