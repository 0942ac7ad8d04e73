x=g; f() { local x=l; g; echo "f $x"; }; g() { echo "g sees $x"; x=changed; }; f; echo $x
h() { local y; echo "[${y-unset}]"; y=1; echo $y; }; h; echo "[${y-unset}]"; i() { local a=1 b=2 c; c=$((a+b)); echo $c; }; i
j() { local z=$1; [ $z -gt 0 ] && j $((z-1)); echo -n "$z "; }; j 3; echo; k() { local -i n=2+3; echo $n; local -r ro=1; echo $ro; }; k
m() { x=global2; local x=lo; unset x; echo "[${x-unset}]"; }; m; echo $x; n() { declare d=1; declare -g e=2; }; n; echo "[$d][$e]"
o() { local IFS=:; echo "$*"; }; o a b; echo "$IFS" | od -c | head -1; p() { local v=$(false); echo $?; local w; w=$(false); echo $?; }; p
