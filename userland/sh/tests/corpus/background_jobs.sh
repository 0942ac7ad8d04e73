(sleep 0.1; exit 7) & wait -n; echo $?; jobs
sleep 0.1 & echo started; wait; echo done $?; (exit 3) & wait $!; echo $?; { sleep 0.1; echo bg; } & wait; f() { echo func bg; }; f & wait $!; sleep 5 & p=$!; kill $p; wait $p 2>/dev/null; echo $?; true & false & wait; echo $?; wait 99999; echo $?; echo "${!}" | grep -c .; cat & wait; echo x | cat & wait

for i in 1 2 3; do (exit $i) & p[$i]=$!; done; for i in 1 2 3; do wait ${p[$i]}; echo $?; done
