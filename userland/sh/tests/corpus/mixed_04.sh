( echo "$(echo "$(echo "$(echo 3)")")"
)
echo "status $?"
( x=5; echo "$((x > 3 ? 1 : 0))" $((x++ + ++x)) $x
)
echo "status $?"
( echo $((  (1 + 2) *
 3 ))
)
echo "status $?"
( for f in a\ b "c d" 'e f'; do echo "$f"; done | cat -n | sed 's/^ *//'
)
echo "status $?"
