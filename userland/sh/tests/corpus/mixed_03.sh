( out=$({ echo o; echo e >&2; } 2>&1 1>/dev/null); echo "$out"
)
echo "status $?"
( { out=$(echo a; echo b >&3); } 3>&1; echo "$out"
)
echo "status $?"
( a=$(b=$(echo inner); echo "$b outer"); echo "$a"
)
echo "status $?"
( echo "${a:-"${b:-"${c:-deep}"}"}"
)
echo "status $?"
