for i in 1 2 3 4 5; do ls /nowhere$i; echo said $?; done
