x=hello; e=; echo ${#x} ${#e} ${#nope}
set -- a b c; echo ${#} ${#@} ${#*}
a=(aa bbb c); echo ${#a[@]} ${#a[*]} ${#a} ${#a[1]}
u=$'h\u00e9llo'; echo ${#u}
