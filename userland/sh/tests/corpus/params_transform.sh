x="it's \$5"; echo ${x@Q}; y=$'a\nb'; echo ${y@Q}; e=; echo ${e@Q}
echo "${x@U}" "${x@u}" "${x@L}"
z='a\tb'; echo "${z@E}"
declare -ir n=5; echo ${n@a} ${n@A}
a=(1 'b c'); echo ${a[@]@Q} "${a[@]@A}" "${a[@]@K}"
set -- 'p q' r; echo "${@@Q}"
