seq 1 30000 | (while read x; do [ $((x % 3000)) = 0 ] && echo $x; done) | tac
