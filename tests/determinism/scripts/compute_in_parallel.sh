work() { i=0; s=$1; while [ $i -lt 3000 ]; do s=$(( (s * 31 + i) % 65521 )); i=$((i+1)); [ $((i % 1000)) = 0 ] && echo $1 $i $s; done; }
for n in 1 2 3 4; do work $n & done; wait
