( let "a = 5" "b = a + 1"; echo $a $b; ((a += b, b -= 1)); echo $a $b; echo $((a <= b)) $((a & 1))
)
echo "status $?"
( for x in "$(echo 'a b')" c; do echo "<$x>"; done; for x in $(echo 'a b') c; do echo "<$x>"; done
)
echo "status $?"
( set -f; for x in *; do echo "$x"; done; set +f; x='[ab]'; touch a; echo $x "$x"
)
echo "status $?"
( true; echo $_; echo a b c; echo $_
)
echo "status $?"
