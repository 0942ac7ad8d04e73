read -t 2 x < <(sleep 5; echo late); echo $? "$x"; date +%s; { sleep 1; echo in time; } | { read -t 3 y; echo $? $y; }
