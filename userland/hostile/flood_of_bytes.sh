# Writes byte by byte to both streams.
while :; do printf a; printf b >&2; done
