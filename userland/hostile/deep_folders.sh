# Nests directories until the path is too long.
while mkdir deeperdeeperdeeperdeeper 2> why && cd deeperdeeperdeeperdeeper 2>> why; do :; done; cat why >&2; p=$(printf "deeper/%.0s" $(seq 1000)); ls "/$p"; echo "ls ended $?"
