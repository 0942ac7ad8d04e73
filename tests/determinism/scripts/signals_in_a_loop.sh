sh -c 'trap "echo got; n=\$((n+1))" USR1; n=0; while [ "$n" -lt 3 ]; do sleep 0.2; done; echo enough' & p=$!
for i in 1 2 3; do sleep 1; kill -USR1 $p; done; wait $p; echo $?
