# Starts many processes, each with a long argument.
long=$(printf "%1000000s" ""); for i in $(seq 60); do /bin/sleep 1000 $i "$long" 2> /dev/null & done; sleep 0.2; kill $(jobs -p) ; wait; echo over
