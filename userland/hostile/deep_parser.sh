# Substitutions within substitutions, in the text of the shell.
echo @$(echo *10000@ 1 @)*10000@
