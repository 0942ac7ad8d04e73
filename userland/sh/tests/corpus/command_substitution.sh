echo $(echo a; echo b) "$(echo a; echo b)" `echo c` `echo \`echo d\``
x=$(printf 'line\n\n\n'); echo "[$x]"; echo "$(echo "nested $(echo "deep")")"
echo $(cat <<E
heredoc in subst
E
)
y=$(exit 3); echo $?; z=$(false) || echo failed; echo "$(true)" $?
echo $(case a in a) echo matched;; esac); echo $( (echo sub) )
f() { echo "from f $1"; x=changed; }; r=$(f arg); echo "$r" "$x"
echo "$(<cfile)" 2>&1 | sed 's/.*cfile/cfile/'; echo content > cfile; echo "$(<cfile)" "$(< cfile)"
a=$(echo 1 | sed s/1/2/ | tr 2 3); echo $a; echo $(echo $(echo $(echo x)))
v=$(read l <<< "in"; echo "$l"); echo $v; echo `echo "a b"`
