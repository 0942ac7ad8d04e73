( (exit 2) || { echo $?; (exit 3); } || echo $?
)
echo "status $?"
( set -e
f() { return 1; }
if f; then echo no; else echo handled; fi
f || echo or
! f
echo end
)
echo "status $?"
( set -euo pipefail
x=$(echo a | grep a)
echo $x
y=$(echo a | grep b || true)
echo "[$y]"
z=${undefined:-}
echo "[$z]"
echo a | grep b
echo no
)
echo "status $?"
( cmd=(echo "a b" c); "${cmd[@]}"; opts=(-n); echo "${opts[@]}" x; echo
)
echo "status $?"
