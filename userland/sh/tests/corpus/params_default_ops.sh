unset u; e=; s=set
echo "${u:-d}" "${e:-d}" "${s:-d}" "${u-d}" "${e-d}" "${s-d}"
echo "${u:+a}" "${e:+a}" "${s:+a}" "${u+a}" "${e+a}" "${s+a}"
echo "${u:=new}" "$u" "${e:=new2}" "$e"
(echo "${zz:?is missing}") 2>&1; echo $?
(echo "${zz?}") 2>&1; echo $?
echo "${u:-$(echo cmd)}" "${nope:-${s}x}" "${nope:-"q u"}" ${nope:-'s q'}
echo ${nope:-a b c} "${nope:-a   b}"
