# Makes named pipes until there is no room for more, and removes them.
mkfifo $(seq 1000) 2>&1 | tail -1 >&2; rm $(seq 1000) 2>/dev/null; mkfifo again; ls | grep -vc again
