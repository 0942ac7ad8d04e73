x=5; y=3; echo $((x+y)) $((x*y)) $(($x-$y)) $((x)) $((nope)) $((x+nope))
echo $((x++)) $x $((++x)) $x $((x--)) $((--x)) $x
((x+=10)); echo $x; ((x-=3,y*=2)); echo $x $y; ((x/=2)); echo $x; ((x%=4)); echo $x
((z=x=7)); echo $z $x; ((x<<=2)); echo $x; ((x>>=1)); echo $x; ((x|=1)); ((x&=0xd)); ((x^=2)); echo $x
a=(1 2 3); echo $((a[1]+a[2])) $((a[0]++)) ${a[0]}; ((a[5]=9)); echo ${a[5]}
e='1+2'; echo $((e*2)) $(($e*2)); v=w; w=4; echo $((v+1))
i=0; while ((i<3)); do echo $i; ((i++)); done
((0)) || echo false; ((5)) && echo true
declare -i n; n=2+3; echo $n; n+=4; echo $n; n=abc; echo $n
s=" 7 "; echo $((s+1)) $(( $s + 1 )); t=; echo $((t+1)) $(( $t +1))
