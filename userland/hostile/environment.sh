# Exports more variables than the limit.
for i in $(seq 300); do export "v$i=$(printf "%10000s" "")"; done; /bin/true; echo "ended $?"
