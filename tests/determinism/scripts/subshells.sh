x=1; (x=2; (x=3; echo $x; echo $BASHPID); echo $x); echo $x; y=$(echo $(echo $(echo deep $RANDOM))); echo $y
