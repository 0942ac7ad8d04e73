( i=5; echo $((i--)) $((--i)) $i; for ((;i>0;i--)); do :; done; echo $i; echo $((i<1?1:2))
)
echo "status $?"
( f() { local a b=2 c=(1 2); echo "${a-unset} $b ${c[1]}"; }; f; f() { local -x V=1; env | grep -c ^V=; }; f
)
echo "status $?"
( echo 'a  b' | while read -r x y; do echo "[$x][$y]"; done; echo ' lead' | while IFS= read -r x; do echo "[$x]"; done
)
echo "status $?"
( a=b; b=c; echo ${!a}; n=a; echo "${!n}"; declare -n ref=b; ref=z; echo $b
)
echo "status $?"
