echo "$(echo "$(echo "a b")")" "`echo "c d"`" "$(echo '"')" "$(echo ")")" $(echo \)) "$(case x in x) echo ok;; esac)"; x="$(printf '%s\n' "q'q" 'd"d')"; echo "$x"; echo $(echo a # comment
) ; echo "$(cat <<'E'
$literal ) (
E
)"; y=$(echo "multi
line"); echo "$y" $y; z=`echo \$HOME '\$x' \\\\`; echo "$z" | sed "s#$HOME#H#"; f() { echo "f:$1"; }; echo "$(f "$(f "$(f x)")")"; echo $(echo {a,b}{1,2}) $(( $(echo 1) + $(echo 2) )) ${x:0:$(echo 3)}; echo "$( (echo sub) )" "$( { echo grp; } )"; w=$( ); echo "[$w]"; echo $(true) x$(true)y; echo "$(exit 5)"; echo $?; v=$(cd / && pwd); echo $v; echo "$(echo err >&2)" 2>/dev/null
