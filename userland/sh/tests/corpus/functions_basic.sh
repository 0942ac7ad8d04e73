f() { echo "f $# $*"; return 3; }; f a b; echo $?; function g { echo g; }; g; function h() { echo h; }; h
r() { [ $1 -le 0 ] && return; echo $1; r $(($1-1)); }; r 3; fact() { if (($1<2)); then echo 1; else echo $(($1*$(fact $(($1-1))))); fi; }; fact 6
k() ( echo sub; x=in ); x=out; k; echo $x; v() { return; }; false; v; echo $?; unset -f g; g 2>/dev/null; echo $?
echo() { builtin echo "wrapped $@"; }; echo hi; unset -f echo; echo bye; l() { for i in "$@"; do echo "<$i>"; done; }; l "a b" c
outer() { inner() { echo inner; }; inner; }; outer; inner; a() { echo "${FUNCNAME[0]} ${FUNCNAME[1]}"; }; b() { a; }; b; x-y() { echo dash; }; x-y
