( ssh_like() { cat; }; ssh_like <<EOF
$(echo remote)
EOF
)
echo "status $?"
( echo -n "no newline"; echo; echo -n; echo ""; echo "" | wc -c
)
echo "status $?"
( a=(one two three); echo "${a[-1]}" "${a[@]: -2:1}"; unset "a[-1]"; echo "${a[@]}"; echo "${a[*]/o/0}"; printf '%s,' "${a[@]}"; echo
)
echo "status $?"
( var=abc; [[ $var =~ (a)(b)(c) ]]; echo "${BASH_REMATCH[@]:1}" ${#BASH_REMATCH[@]}; [[ "x=1" =~ ^([a-z]+)=([0-9]+)$ ]] && declare "${BASH_REMATCH[1]}=${BASH_REMATCH[2]}"; echo $x
)
echo "status $?"
