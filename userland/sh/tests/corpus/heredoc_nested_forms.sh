f() {
  cat <<-EOF
	indented ${1:-none}
	  keep two
	EOF
}
f; f arg; for i in 1 2; do cat <<EOF
loop $i
EOF
done; if true; then cat <<'EOF'
in if $x
EOF
fi; x=$(cat <<EOF
a
b
EOF
); echo "$x"; cat <<EOF | while read l; do echo "> $l"; done
p q
EOF
(cat <<EOF
sub
EOF
); cat <<"EO F"
spaced
EO F
cat <<EOF && echo and
list
EOF
cat - /dev/null <<EOF
empty next
EOF
cat <<EOF
EOF
echo end; while read a b; do echo "$b-$a"; done <<< "1 2
3 4"; cat <<A; cat <<B
a
A
b
B
