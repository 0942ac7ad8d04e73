for x in a "b c" $(echo d e); do echo "[$x]"; done; for x in; do echo never; done; echo $?
for ((i=0;i<3;i++)); do echo $i; done; for ((;;)); do break; done; for ((i=0,j=5;i<j;i++,j--)); do echo $i $j; done
for i in {1..3}; do for j in a b; do [ $j = b ] && continue 2; echo $i$j; done; done
for i in 1 2 3; do for j in 1 2 3; do [ $j = 2 ] && break 2; echo $i$j; done; done
set -- p q; for a do echo $a; done; for a
do echo $a; done; for i in 1 2 3; do echo $i; done | sort -r; echo $i
for f in *.none; do echo $f; done; for i in 1 2; { echo brace $i; }
