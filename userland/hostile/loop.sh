# An endless loop in the shell.
while :; do :; done
