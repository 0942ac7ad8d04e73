head -c 64 /dev/urandom | od -An -tx1
head -c 16 /dev/random | od -An -tx1
