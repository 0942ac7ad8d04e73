sleep 100 & p=$!
(sleep 1; kill $p) &
wait $p; echo $?
trap 'echo term; exit 7' TERM; (sleep 1; kill -TERM $$) & sleep 5; echo not reached
