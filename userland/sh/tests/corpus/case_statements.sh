t() { case $1 in a) echo A;; b|c) echo BC;; [0-9]*) echo num;; *.txt) echo txt;; "q r") echo quoted;; '') echo empty;; *) echo other;; esac; }
for x in a c 5x f.txt 'q r' '' zzz '*'; do t "$x"; done
case x in x) echo 1;& y) echo 2;; z) echo 3;; esac; case ab in a*) echo 1;;& *b) echo 2;;& c) echo 3;; *) echo 4;; esac
case "a*b" in "a*b") echo lit;; esac; p='a*'; case abc in $p) echo pat;; esac; case abc in "$p") echo no;; *) echo quoted;; esac
case $(echo hi) in (hi) echo paren;; esac; case x in y) ;; esac; echo $?; case A in [[:upper:]]) echo up;; esac
case a in
  a)
    echo multi
    ;;
esac
shopt -s nocasematch; case ABC in abc) echo nocase;; esac
