(while true; do echo spin >> spin.log; sleep 0.5; done) &
sleep 3; wc -l spin.log; echo leaving
