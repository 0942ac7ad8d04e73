# Prints every variable it can find.
env | cut -d= -f1 | sort | tr "\n" " "; echo; cat /proc/self/environ | tr "\0" "\n" | grep -c .; hostname; uname -n
