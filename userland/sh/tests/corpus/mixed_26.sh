( trap 'rm -f tmp$$; echo bye' EXIT; touch tmp$$; exit 0
)
echo "status $?"
( set -E; trap 'echo ERR in ${FUNCNAME[0]:-main}' ERR; f() { false; }; f; true
)
echo "status $?"
( exit_with() { exit $1; }; (exit_with 9); echo $?; exit_with 3; echo no
)
echo "status $?"
( x=$(exit 5) || echo "failed $?"; if x=$(false); then echo t; else echo "f $?"; fi
)
echo "status $?"
