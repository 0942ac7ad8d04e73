# A shell variable that doubles without end.
x=xxxxxxxx; while :; do x=$x$x; done
