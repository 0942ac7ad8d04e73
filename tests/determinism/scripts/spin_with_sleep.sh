(sleep 3; touch flag) &
n=0
until [ -e flag ]; do n=$((n+1)); sleep 0.1; done
echo $n
wait
