i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done; until [ $i -eq 0 ]; do i=$((i-1)); echo u$i; done
while true; do i=$((i+1)); [ $i -gt 5 ] && break; [ $((i%2)) -eq 0 ] && continue; echo odd $i; done; echo $?
printf 'a b\nc d\n' | while read x y; do echo "$y $x"; done; while read -r l; do echo "$l"; done < <(printf '1\n2')
n=0; while read x; do n=$((n+1)); done <<< "$(seq 10)"; echo $n; while false; do :; done; echo $?
