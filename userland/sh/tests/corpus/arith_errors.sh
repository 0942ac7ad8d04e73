echo $((1/0)); echo after1
echo $((1+)); echo after2
((1/0)); echo $?
let 'x=1/0'; echo $?
let x=5 y=x+1; echo $x $y $?; let 0; echo $?
echo $((08)); echo after3
echo $((1 2)); echo after4
x=x; echo $((x)); echo after5
