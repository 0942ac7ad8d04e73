x=val
cat <<E
plain $x $(echo cmd) $((1+1)) \$x \\ "q" 'q' `echo bt`
E
cat <<'E'
quoted $x $(echo cmd) \n
E
cat <<-E
	tabs stripped
		both
	E
cat <<"A" <<B
first
A
second
B
while read l; do echo "[$l]"; done <<E
a
b c
E
cat <<E | tr a-z A-Z
piped
E
f() { cat <<E
in function $1
E
}; f arg
cat <<E; echo after
one
E
cat <<E
cont\
inued ${x:-d} ${nope:-dflt}
E
cat <<\E
bs $x
E
