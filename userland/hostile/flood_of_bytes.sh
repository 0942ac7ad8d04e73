# Writes single bytes to both output streams without end.
while :; do printf a; printf b >&2; done
