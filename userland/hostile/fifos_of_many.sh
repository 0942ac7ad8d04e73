# Creates named pipes until the inode limit is reached, then deletes them.
mkfifo $(seq 1000) 2>&1 | tail -1 >&2; rm $(seq 1000) 2>/dev/null; mkfifo again; ls | grep -vc again
