shopt -s lastpipe; echo a b | read x y; echo "$y $x"; seq 3 | while read n; do sum=$((sum+n)); done; echo $sum; shopt -u lastpipe; echo c | read z; echo "[$z]"
