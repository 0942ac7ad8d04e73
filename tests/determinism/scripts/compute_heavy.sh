i=0; s=0; while [ $i -lt 20000 ]; do s=$(( (s * 31 + i) % 65521 )); i=$((i+1)); done; echo $s
