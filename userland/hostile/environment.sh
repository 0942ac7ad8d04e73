# Variables without an end.
for i in $(seq 300); do export "v$i=$(printf "%10000s" "")"; done; /bin/true; echo "ended $?"
