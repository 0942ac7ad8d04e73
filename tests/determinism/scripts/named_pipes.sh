mkfifo p 2>&1; echo $?
{ echo one; sleep 1; echo two; } | { read a; date +%s; read b; date +%s; echo $a $b; }
