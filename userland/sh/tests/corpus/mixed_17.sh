( cat <<EOF > "file name.txt"
content
EOF
cat "file name.txt"
)
echo "status $?"
( cat <<'A' ; cat <<'B'
a
A
b
B
)
echo "status $?"
( bash <<'EOF'
echo "inner $0"
for i in 1 2; do echo $i; done
EOF
)
echo "status $?"
( bash -s -- x y <<'EOF'
echo "$1-$2"
EOF
)
echo "status $?"
