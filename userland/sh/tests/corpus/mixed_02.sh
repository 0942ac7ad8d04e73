( i=1; arr=(a b c); arr[$i]+=x; arr[i+1]=z; echo "${arr[$((i+1))]}" "${arr[@]:1}" "${arr[@]/#/p-}"
)
echo "status $?"
( x=$'a\nb\nc'; echo "${x//$'\n'/,}"; y=" a	b "; echo "[${y//[$' \t']/}]"; echo "${x:$((1+1)):1}"
)
echo "status $?"
( while read -r; do echo "[$REPLY]"; done <<< "  spaced  "
)
echo "status $?"
( eval "$(printf 'a=%s\n' 5)"; echo $a; eval "$(echo 'f() { echo dyn; }')"; f
)
echo "status $?"
