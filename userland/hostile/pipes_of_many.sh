# Starts many processes that fill pipes without a reader.
for i in $(seq 40); do for j in 1 2 3 4 5; do yes | sleep 1000 & done; done; wait
