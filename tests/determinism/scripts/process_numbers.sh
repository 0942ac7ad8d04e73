echo $$ $BASHPID $PPID; (echo $BASHPID); sh -c 'echo $$'; true & echo $!; sh -c 'echo $$ $PPID' & wait
