# Creates hard links to one file until the inode limit is reached.
echo x > f; i=0; while ln f "l$i" 2>> why; do i=$((i + 1)); done; tail -1 why >&2; stat -c %h f
