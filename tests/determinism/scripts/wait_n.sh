(sleep 3; exit 3) & (sleep 1; exit 1) & (sleep 2; exit 2) &
wait -n; echo $?; wait -n; echo $?; wait -n; echo $?
