( printf '%5.1f%%\n' 45.678; printf '%e\n' 0; printf '%g\n' 1234567; printf '%x\n' -1; printf '%c\n' ""
)
echo "status $?"
( echo one two | { read -r a b; printf '%s\n' "$b" "$a"; }; read -ra w <<< "p q r"; echo "${w[@]:1}"
)
echo "status $?"
( sort -t: -k2n <<< $'b:2\na:10\nc:1'; sort -u <<< $'a\nb\na'; uniq -c <<< $'a\na\nb' | sed 's/^ *//' 
)
echo "status $?"
( find . -type f -name '*.x' -print0 | while IFS= read -r -d '' f; do echo "$f"; done; echo none
)
echo "status $?"
