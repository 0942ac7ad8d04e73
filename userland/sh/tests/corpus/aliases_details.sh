shopt -s expand_aliases
alias a='echo A' b='a; a' c='a #' d='if true; then' p='a | cat' n='nohup ' s='{ echo in' v='X=5' r='>redir' w='while read -r l; do'
a 1; b 2
c hidden
d a in-if; fi
p x
alias a1='a' ; a1 same-line
a1 next-line
s; }
v; echo $X
v env | grep ^X=
r echo redirected; cat redir
printf '1\n2\n' | w echo "got $l"; done
! a not; echo $?
{ time -p a timed; } 2>/dev/null
case a in a) a arm;; esac
if a cond; then a then; else a else; fi
until a until; do :; done
for a in 1 2; do a $a; done
f() { a func "$@"; }
unalias a
f x
a gone 2>/dev/null || echo gone
alias self='echo self; self2' self2='self'
self
x=$(b 2>&1); echo "$x"
alias b='echo new'
echo $(b sub) `b back`
eval 'alias z="echo zed"'; eval 'z 1'
alias sp='echo sp ' t1='T1 ' t2=T2
sp t1 t2 t2
\sp t1 2>/dev/null || echo escaped
"sp" 2>/dev/null || echo quoted
alias 'q'"r"=b; qr works
b=notalias; echo $b
b+=more; echo $b
(b paren) ; { b brace; }
b && b || b
b & wait
alias -p | sort | head -3
unalias -a; alias
alias dd1='a
b'
echo x; alias | cat
alias h='echo from here'
cat <<END
$(h a) `h b` ${unset_one:-$(h c)}
END
echo "${x:$(echo 0):1}" "$(h `h d`)"
