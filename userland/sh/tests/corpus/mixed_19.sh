( if (( 10 > 9 )) && [[ 10 > 9 ]]; then echo a; else echo b; fi; [ 10 -gt 9 ] && echo c; [[ a > B ]] && echo d
)
echo "status $?"
( echo $(( 3.5 + 1 ))
)
echo "status $?"
( x=abc; echo $((x)); y=1+1; echo $((y)); echo $((z++)) $z; echo $(( a[0] ))
)
echo "status $?"
( printf '%d\n' 3.7; printf '%s %s\n' a; printf '%d %s\n' 1 a 2; printf 'x%sx\n' ""
)
echo "status $?"
