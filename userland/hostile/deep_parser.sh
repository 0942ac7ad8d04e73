# Deeply nested command substitutions.
echo @$(echo *10000@ 1 @)*10000@
