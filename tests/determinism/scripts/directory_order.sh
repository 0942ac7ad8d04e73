for i in 9 3 7 1 5 2 8; do mkdir -p t/$i; for j in z a m; do echo $i$j > t/$i/$j; done; done
find t; ls -f t; ls -U t/3; for f in t/*/*; do echo $f; done
