echo $'a\tb\nc' $'\x41\101\u00e9' $'it\'s' $'\e[0m' | od -c | head -5
echo $'a\\b' "$'no'" $'\cA' | od -c
x=$'two\nlines'; echo "$x"
