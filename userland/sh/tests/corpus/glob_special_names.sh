touch -- '-dash' 'a b' 'new
line' '[x]' 'q?' 'back\slash' '#hash' '~tilde'; for f in *; do printf '%q\n' "$f"; done; echo [[]*; ls | wc -l; rm -- *; ls -a | wc -l; touch a1 a2 b1; echo a? [!a]* *[12]; echo "a"* 'a'* a\*; x=a; echo $x* "$x"*; echo */ 2>/dev/null; mkdir z; touch z/.h z/v; echo z/* z/.*; echo ./*1 $PWD/b* | sed "s#$PWD#P#"
