timeout 1 sleep 60; echo $?
timeout 5 sleep 1; echo $?
timeout 2 sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.5; done'; echo $?
date +%s
