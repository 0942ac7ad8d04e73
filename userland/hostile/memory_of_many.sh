# Starts many processes, each below its own memory limit.
for i in 1 2 3 4 5 6 7 8; do (x=$(printf '%8000000s' ''); sleep 1000) & done; sleep 0.5; jobs -p | wc -l > /dev/null; kill $(jobs -p); wait; echo all | cat
