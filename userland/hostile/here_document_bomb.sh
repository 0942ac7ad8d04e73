# A here-string whose text doubles in every iteration.
x=$(printf '%100000s' ''); for i in 1 2 3 4 5 6 7 8 9 10 11 12; do x=$(cat <<< "$x$x"); done; echo ${#x}
