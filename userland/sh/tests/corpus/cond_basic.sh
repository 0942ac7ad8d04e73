x='a b'; [[ $x == 'a b' ]] && echo 1; [[ $x = a* ]] && echo 2; [[ $x == "a*" ]] || echo 3; [[ -n $x && -z $e ]] && echo 4; [[ a < b ]] && echo 5; [[ ! a == b ]] && echo 6
[[ ( a == a || b == c ) && d == d ]] && echo 7; [[ 5 -gt 3 ]] && echo 8; [[ 1+1 -eq 2 ]] && echo 9; [[ $e ]] || echo 10; [[ -v x ]] && echo 11
p='a*'; [[ abc == $p ]] && echo 12; [[ abc == "$p" ]] || echo 13; [[ "x y" == *" "* ]] && echo 14; [[ a != b ]]; echo $?
[[ foo == f?o && foo == [f]oo && foo == @(foo|bar) ]] && echo 15; [[ abc > abb ]] && echo 16; [[ "" ]]; echo $?; [[ x &&
y ]] && echo 17; [[ -z "" ]] && echo 18; [[ ~ == $HOME ]] && echo 19; [[ 10 -eq 0x0a ]] && echo 20; y=3; [[ y -eq 3 ]] && echo 21
