for i in $(seq 1 60); do /bin/true; echo -n "$! "; done; echo; for i in $(seq 1 20); do sleep 0.$i & done; wait; date +%s.%N
