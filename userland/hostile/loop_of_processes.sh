# Starts short processes without end.
while :; do /bin/true; done
