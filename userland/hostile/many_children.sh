# More children than there may be.
for i in $(seq 30); do sleep 1000 & done; echo "not reached"
