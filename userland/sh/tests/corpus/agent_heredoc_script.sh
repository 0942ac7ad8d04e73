cat > gen.sh <<'EOF'
#!/bin/sh
for a in "$@"; do
  echo "arg: $a"
done
exit $#
EOF
chmod +x gen.sh; ./gen.sh one "two three"; echo $?; sh gen.sh; echo $?
name=World; cat <<EOF > out.txt
Hello, ${name}!
Sum: $((2 + 3)) Date: $(echo today)
\$escaped \`ticks\`
EOF
cat out.txt; bash -c "$(cat <<'EOF'
echo inner "$1"
EOF
)" _ param
