for n in 1 2 3 4 5 6 7 8; do (for i in $(seq 1 25); do echo $n-$i >> log; done) & done
wait
cat log
