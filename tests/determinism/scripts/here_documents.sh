cat <<EOF | sort -r | while read a b; do echo "$b $a"; done
one 1
two 2
three $(date +%s)
EOF
