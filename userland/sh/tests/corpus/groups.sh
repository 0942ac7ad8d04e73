{ echo a; echo b; } | tac; { echo c; }; { x=5; }; echo $x; { echo out; echo err >&2; } 2>/dev/null; { read l; echo $l; } <<< in; { :; } && echo ok; { false; } || echo fail; { echo 1; } > gf; cat gf
