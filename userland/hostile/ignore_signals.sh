# Ignores all signals, also in a child process.
trap '' TERM INT HUP QUIT PIPE; (trap '' TERM; while :; do :; done) &
while :; do kill -TERM $$ $! 2> /dev/null; done
