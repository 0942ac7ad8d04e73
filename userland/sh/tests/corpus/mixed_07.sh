( args=(); [ ${#args[@]} -eq 0 ] && echo none; set -u; echo ${args[@]+"${args[@]}"} ok
)
echo "status $?"
( declare -A m; m["k 1"]=v; m[k2]="x y"; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort; unset 'm[k 1]'; echo ${#m[@]}; [[ -v m[k2] ]] && echo has
)
echo "status $?"
( declare -A c; for w in a b a c a; do ((c[$w]++)); done; echo "${c[a]} ${c[b]}"; c[x]=$((c[x]+5)); echo ${c[x]}; (( c[y] += 2 )); echo ${c[y]}
)
echo "status $?"
( f() { local x; x=$1; shift; echo "$x: $*"; }; f a b c; f "a b" "c d"
)
echo "status $?"
