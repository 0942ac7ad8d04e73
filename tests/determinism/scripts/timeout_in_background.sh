timeout 3 sh -c 'while true; do echo tick; sleep 1; done' &
sleep 1.5; echo between; wait; echo end $?
