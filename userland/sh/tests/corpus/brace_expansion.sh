echo {a,b,c} x{1,2}y {a,b}{c,d} {1..5} {5..1} {a..e} {1..10..3} {01..03} {a,{b,c}d}
echo {a} {} {a,b {a..} "{a,b}" '{a,b}' \{a,b\} {a,b}"x y" pre{,fix} {-2..2} {10..1..-4}
x=5; echo {1..$x} ${x}{a,b}; echo a{b,c}{1..2}d file.{txt,md}
echo {1..3}{a,b} | wc -w; echo {x,y\,z} {z..v}
