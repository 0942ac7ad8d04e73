{ for i in 1 2 3; do echo ping $i; sleep 0.3; done; } | while read l; do echo "$l $(date +%s.%N)"; echo pong >> back; done; cat back
