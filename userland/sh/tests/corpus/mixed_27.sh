( echo a >&1; echo b 1>&2 2>/dev/null; (echo c >&2) 2>&1; { echo d; } 1>&2 2>&1 | cat
)
echo "status $?"
