( x=(
  a # first
  "b c"   # second

  [5]=d
)
echo "${!x[@]}" "${x[1]}"
)
echo "status $?"
( if [[ -n "a" &&
      ( -z "" ||
        1 -eq 2 ) ]]; then
  echo multi
fi
)
echo "status $?"
( f() {
  if true; then
    cat <<EOF
in $1
EOF
  fi
}
f x > out; cat out
)
echo "status $?"
( function g { echo g; } > gout
g; cat gout
)
echo "status $?"
