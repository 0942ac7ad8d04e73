t() { "$@" && echo yes || echo no; }
t [ a = a ]; t [ a = b ]; t [ a != b ]; t [ -z "" ]; t [ -n "" ]; t [ "" ]; t [ x ]; t [ ! x ]; t [ a \< b ]; t [ b \> a ]; t test a == a
t [ a = a -a b = b ]; t [ a = b -o b = b ]; t [ ! a = b ]; t [ \( a = a \) ]; t [ -n a -a ! -z b ]; t [ "(" = "(" ]; t [ -f ]; t [ ! ]; t [ -n ]; t [ ]
t [ 1 -eq 1 ]; t [ 1 -ne 1 ]; t [ 2 -gt 1 ]; t [ 2 -ge 2 ]; t [ 1 -lt 2 ]; t [ 1 -le 0 ]; t [ " 5 " -eq 5 ]; t [ -5 -lt 0 ]
x=; t [ -z $x ]; t [ "$x" = "" ]; [ a -eq 1 ]; echo $?; [ 1 -eq ]; echo $?; [ a b c d e ]; echo $?; test; echo $?; [ x; echo $?
