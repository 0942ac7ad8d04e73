( trap 'echo int; exit 130' INT; kill -INT $BASHPID; echo no
)
echo "status $?"
( trap 'echo term' TERM; kill -TERM $BASHPID; echo continued; trap - TERM; trap
)
echo "status $?"
( echo "a\tb" 'c\td'; echo -e "a\tb" | od -c | head -1; printf "a\tb\n" | od -c | head -1
)
echo "status $?"
( x=1 y=2 env | grep -E '^[xy]=' | sort; x=1 bash -c 'echo $x'; echo "[$x]"
)
echo "status $?"
