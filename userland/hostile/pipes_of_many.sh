# Many programs with many pipes each, all of them full.
for i in $(seq 40); do for j in 1 2 3 4 5; do yes | sleep 1000 & done; done; wait
