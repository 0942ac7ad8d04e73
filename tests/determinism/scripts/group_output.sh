{ echo a; echo b >&2; { echo c; echo d >&2; } | cat; seq 3 >&2 & seq 3; wait; } 2>&1 | cat -n
