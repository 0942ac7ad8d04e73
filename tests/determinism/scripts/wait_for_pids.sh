sleep 2 & a=$!
sleep 1 & b=$!
false & c=$!
wait $c; echo $?; wait $b; echo $?; wait $a; echo $?; echo $a $b $c
