# A variable that doubles.
x=xxxxxxxx; while :; do x=$x$x; done
