f() { if [ $1 = a ]; then echo A; elif [ $1 = b ]; then echo B; else for i in 1 2; do echo $i; done; fi; while false; do :; done; case $1 in x|y) echo xy ;; *) : ;; esac; }
declare -f f; type f; g() { echo "a b" | cat > /dev/null && true || false; (sub); { grp; }; ((x+1)); [[ -n $x && y == z ]]; local v=1; until true; do :; done; for ((i=0; i<3; i++)); do echo; done; ! true; cmd & }
declare -f g; declare -F; h() { echo one; echo two; }; type h | head -3; declare -f nosuch; echo $?; declare -f f | sh -c 'cat >/dev/null; echo ok'
