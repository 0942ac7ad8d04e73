head -c 200000 /dev/zero | tr '\0' x | { sleep 1; wc -c; }; { sleep 1; cat; } < <(seq 1 20000) | md5sum
