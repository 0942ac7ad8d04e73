echo 'a  b' "a  b" a\ \ b
echo "a'b" 'a"b' "a\"b" "a\\b" "a\$b" "a\`b" "a\nb"
echo ''"" x
x='it'\''s'; echo "$x"
echo "line1
line2"
