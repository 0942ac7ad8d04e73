x=y; y=value; echo ${!x} "${!x}"
a=(1 2 3); r='a[1]'; echo ${!r}; r='a[@]'; echo ${!r}
set -- p q; i=2; echo ${!i} ${!#}
abc1=1 abc2=2 abc3=3; echo ${!abc*} "${!abc@}"
unset nope; echo ${!nope:-none}
