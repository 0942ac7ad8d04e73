for n in 1 2 3 4 5; do (until mkdir lock 2>/dev/null; do :; done; echo $n has it; rmdir lock) & done
wait
