echo a > f; cat f; echo b >> f; cat f; cat < f; echo c >| f; cat f
echo err >&2 2>/dev/null; { echo out; echo err >&2; } > o 2> e; cat o e
{ echo out; echo err >&2; } > both 2>&1; cat both; { echo x; echo y >&2; } &> b2; cat b2; { echo z; echo w >&2; } &>> b2; cat b2
ls nope > l 2>&1; wc -l < l; exec 3> third; echo to3 >&3; exec 3>&-; cat third
exec 4< f; read x <&4; echo $x; exec 4<&-; echo no >&4; echo $?
echo hi 2>&1 >/dev/null; > empty; wc -c < empty; cat 0< f; echo q 1> g1; cat g1
while read l; do echo "got $l"; done < b2; for i in 1 2; do echo $i; done > loop; cat loop
if true; then echo cond; fi > cf; cat cf; (echo sub) > sf; cat sf; f() { echo fn; } > ff; f; cat ff
