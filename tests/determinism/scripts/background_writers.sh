for n in 1 2 3 4 5 6; do (for i in $(seq 1 40); do echo $n $i; done) & done
wait
