set -- a b c d e f g h i j k
echo $1 ${10} $10 ${11} $# "$#"
shift; echo $1 $#; shift 3; echo $1 $#
f() { echo "$# $1 $2"; }; f x 'y z'; f "$@"; f "$*"; f $*
set -- "a b" c; for x; do echo "[$x]"; done; for x in "$@"; do echo "<$x>"; done
echo "${@:2}" "${@:1:1}" "${*:1:2}" "${@: -1}"
