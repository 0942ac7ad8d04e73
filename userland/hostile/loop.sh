# Loops for ever in the shell itself.
while :; do :; done
