# Ignores the first signal of the timeout command.
timeout -k 0.1 0.1 bash -c "trap '' TERM; while :; do :; done"; echo "ended $?"
