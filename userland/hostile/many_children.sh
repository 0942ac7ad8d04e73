# Starts more child processes than the limit.
for i in $(seq 30); do sleep 1000 & done; echo "not reached"
