# Deletes files while they are open.
for i in $(seq 200); do exec {fd}> gone; head -c 65536 /dev/urandom >&$fd || break; rm gone; done; df -i . > /dev/null; echo "$i"
