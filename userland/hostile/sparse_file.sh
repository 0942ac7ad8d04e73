# Creates sparse files over the size limit.
truncate -s 100T hole; echo $?; dd if=/dev/zero of=hole2 bs=1 count=1 seek=99999999999999 2>&1 | tail -1; echo x > far; truncate -s 9223372036854775807 far; echo $?
