( (:;:) && (true;false) || echo grp; ((1)) && ((0)) || echo ar; { false; } && echo no; echo $?
)
echo "status $?"
( echo "a" "b" > f; cat < f > g; cat g; cat f g | sort | uniq -d
)
echo "status $?"
( var='a;b&c|d'; echo "$var"; eval echo \"\$var\"; echo $var | cat
)
echo "status $?"
( declare -i num=5; num+=5; echo $num; num="2 * 3"; echo $num; declare -r CONST=1; CONST=2 2>/dev/null || echo ro; echo still
)
echo "status $?"
