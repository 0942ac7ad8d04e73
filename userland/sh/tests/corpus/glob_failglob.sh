shopt -s failglob
echo nomatch*
echo "after $?"
