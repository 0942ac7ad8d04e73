# Prints all environment variables and the host name.
env | cut -d= -f1 | sort | tr "\n" " "; echo; cat /proc/self/environ | tr "\0" "\n" | grep -c .; hostname; uname -n
