( echo "a=1;b=2" | tr ';' '\n' | while IFS== read -r k v; do echo "$k->$v"; done
)
echo "status $?"
( sum=0; for n in 1 2 3; do (( sum += n )); done; echo $sum; echo $(( sum / 2 )).$(( sum % 2 * 5 ))
)
echo "status $?"
( printf "%-10s|%5s|\n" name qty; printf "%-10s|%5d|\n" apple 3 fig 12
)
echo "status $?"
( x="  trim  "; x="${x#"${x%%[![:space:]]*}"}"; x="${x%"${x##*[![:space:]]}"}"; echo "[$x]"
)
echo "status $?"
