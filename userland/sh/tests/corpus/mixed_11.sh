( s=hello; r=; for ((i=${#s}-1;i>=0;i--)); do r="$r${s:$i:1}"; done; echo $r; echo "${s^}" "${s^^}" "${s:1:-1}"
)
echo "status $?"
( p=/a/b/c.tar.gz; echo "${p##*/}" "${p%/*}" "${p%%.*}" "${p#*.}" "${p/b/X}" "${p//\//|}"
)
echo "status $?"
( a=1; { a=2; }; echo $a; ( a=3 ); echo $a; a=4 | true; echo $a; a=5 & wait; echo $a; echo x | { a=6; }; echo $a
)
echo "status $?"
( f() { return; }; true; f; echo $?; false; f; echo $?; f2() { local r=$?; echo $r; }; false; f2
)
echo "status $?"
