for n in a b c d; do seq -f "$n %g" 1 300 & done
wait
echo done
