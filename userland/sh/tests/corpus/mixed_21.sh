( f() { echo out; echo err >&2; return 5; }; o=$(f 2>/dev/null); echo "$o $?"; e=$(f 2>&1 >/dev/null); echo "$e $?"
)
echo "status $?"
( set -- -a 1 --long=val file; while [ $# -gt 0 ]; do case "$1" in -a) shift; echo "a=$1";; --long=*) echo "long=${1#--long=}";; *) echo "file $1";; esac; shift; done
)
echo "status $?"
( usage() { cat >&2 <<EOF
Usage: $(basename "$0")
EOF
exit 64; }; (usage); echo $?
)
echo "status $?"
( echo "${var:=def}"; echo $var; : "${other:=x}"; echo $other; echo "${third:+alt}" "${var:+alt}"
)
echo "status $?"
