cat < nosuch; echo $?; echo x > nodir/f; echo $?; echo x > /; echo $?
: > "a b"; x="a b"; echo y > $x; echo $?; set -C; echo 1 > nc; echo 2 > nc; echo $?; echo 3 >| nc; cat nc
echo >&99; echo $?; e=; echo z > $e; echo $?
