( f() { local IFS=,; echo "$*"; }; f 1 2 3; g() { printf '%s\n' "${@}"; }; g x "y z"
)
echo "status $?"
( trap 'echo "line $LINENO"' ERR
true
false
echo done
)
echo "status $?"
( f() { echo "${BASH_SOURCE[0]}:$LINENO:${FUNCNAME[*]}"; }
g() { f; }
g
)
echo "status $?"
( printf '%s\n' {a,b}-{1,2}; echo {x,y}{,.txt}; echo pre{1..3}post; echo {1..0}; echo {a,b
)
echo "status $?"
