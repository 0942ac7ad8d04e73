exec 2>&1
set -x
x=1
y="a b"
echo $x "$y" 'q$'
[ 1 = 1 ] && echo ok
for i in 1 2; do :; done
f() { echo in f; }
f a
if [[ $y == a* ]]; then echo m; fi
((x++))
case $x in 2) echo two;; esac
echo $(echo sub)
a=(1 "2 3")
set +x
PS4='>> '; set -x; true; set +x
