f() { if true; then cat <<A && echo x; fi; }
hello $HOME
A
g() { cat <<-'B'
	raw $x
	B
[[ ( a == b || c == c ) && ! ( d == e && f == g ) ]] && echo cond
}
h() ( echo sub )
declare -f f g h
f; g; h
env_f() { echo "exported $1"; cat <<EOF
body $1
EOF
}
export -f env_f
bash -c 'env_f 1'
declare -F
export -f
export -nf env_f
bash -c 'env_f 2'
unset -f env_f
shopt -s expand_aliases
alias ll='echo LL ' e=echo loop='loop x' t='time -p' n='! true'
ll e a
e one; e two && e three | cat
loop
x=$(e sub); echo $x
alias ll e
alias
unalias e
e gone
type ll
type -t ll
command -v ll
alias nope
alias bad/name=x
unalias nope
unalias
n; echo $?
alias if2='if true; then'
if2 echo yes; fi
fun() { ll inside; }
unalias ll
fun
declare -f fun
alias a1='a2 ' a2='echo chain' a3=third
a1 a3
a1 'a3'
\a1
'a1'
alias multi='echo 1
echo 2'
multi
for i in 1 2; do a1 $i; done
case x in x) a1 case;; esac
{ a1 group; }
(a1 paren)
a1=5; echo $a1
X=1 a1 env
2>&1 a1 redir
