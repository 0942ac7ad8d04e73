( case "a b" in a\ b) echo esc;; esac; case x in "x"|'y') echo q;; esac
)
echo "status $?"
( [[ "foo.bar" == *.bar ]] && echo ext; [[ foo == "f"* ]] && echo part
)
echo "status $?"
( x="a*b"; [[ "a*b" == "$x" ]] && echo lit; [[ aXb == $x ]] && echo pat
)
echo "status $?"
( echo a | { read x; echo "$x" | { read y; echo "$y$y"; }; }
)
echo "status $?"
