mkfifo p; stat -c %F p
{ echo one; sleep 1; echo two; } > p & { read a; date +%s; read b; date +%s; echo $a $b; } < p; wait; rm p
{ echo one; sleep 1; echo two; } | { read a; date +%s; read b; date +%s; echo $a $b; }
