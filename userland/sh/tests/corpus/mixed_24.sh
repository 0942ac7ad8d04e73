( echo ${x:-$(echo default cmd)} "${y:-$((1+2))}" ${z:-`echo bt`}
)
echo "status $?"
( x=1; x+=1; echo $x; a=(1); a+=2; echo ${a[0]}; s=ab; s+=cd; echo $s; export s+=ef; echo $s
)
echo "status $?"
( { echo "{"; echo '  "k": "v"'; echo "}"; } > j.json; cat j.json; grep -o '"k": *"[^"]*"' j.json | cut -d'"' -f4
)
echo "status $?"
( n=0; while read -r l || [ -n "$l" ]; do n=$((n+1)); done < <(printf 'a\nb'); echo $n
)
echo "status $?"
