# Creates files below the size limit until the total limit is reached.
i=0; while head -c 300000 /dev/urandom > "f$i"; do i=$((i + 1)); done; cat f* | wc -c
