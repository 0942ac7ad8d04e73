echo one
echo "unterminated
echo two
