IFS=:; x='a:b::c:'; printf '[%s]' $x; echo
x=':a'; printf '[%s]' $x; echo
IFS=': '; x=' a : b  c :: d '; printf '[%s]' $x; echo
IFS=; x='a b'; printf '[%s]' $x; echo
unset IFS; printf '[%s]' $x; echo
IFS=,; set -- a b c; echo "$*"; echo $*; x=$*; echo "$x"; y="$@"; echo "$y"
