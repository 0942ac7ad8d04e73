# Starts programs one after the other for ever.
while :; do /bin/true; done
