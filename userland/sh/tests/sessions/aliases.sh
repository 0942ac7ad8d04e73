alias ll='echo listing' e='echo '
----
ll here; e ll
alias word='replaced'
----
e word; alias
unalias ll
----
alias; ll 2>/dev/null || echo gone
alias it='for i in 1 2; do echo'
----
it $i; done
f() { e word; }
unalias e
----
f
alias q="printf '%s\n' 'single' \"double\""
----
q; alias q
