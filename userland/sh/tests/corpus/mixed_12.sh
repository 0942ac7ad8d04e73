( if echo a | grep -q a && ! echo b | grep -q a; then echo both; fi
)
echo "status $?"
( test -e /etc/passwd -a -r /etc/passwd && echo readable; [ -d / -a ! -f / ] && echo dir
)
echo "status $?"
( a="x y"; b=$a; c="$a"; echo $b "$c"; d=$(echo $a) e=`echo $b`; echo "$d" "$e"; f=a\ b; echo "$f"; g=~; [ "$g" = "$HOME" ] && echo h
)
echo "status $?"
( echo $((`echo 1` + $(echo 2))) "$((1)) `echo "bt $((2))"`"
)
echo "status $?"
