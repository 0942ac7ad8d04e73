for i in 1 2 3; do date +%T; sleep 20; done
