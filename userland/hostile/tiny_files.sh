# Creates empty files until the inode limit is reached.
i=0; while : > "f$i"; do i=$((i + 1)); done; echo $i
