echo 0 > count
for n in 1 2 3 4; do (for i in $(seq 1 10); do read x < count; echo $((x+1)) > count; done) & done
wait
cat count
