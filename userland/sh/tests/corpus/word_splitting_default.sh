x='  a   b	c
d  '
printf '[%s]' $x; echo
printf '[%s]' "$x"; echo
printf '[%s]' pre$x'post'; echo
y=' a '; printf '[%s]' x${y}y; echo
