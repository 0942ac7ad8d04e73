for n in 1 2 3 4; do (head -c 8 /dev/urandom | od -An -tx1) & done
wait
