seq 1 200 | tee >(grep 1 > g1) >(grep 2 > g2) | tail -1; sleep 0.2; wc -l g1 g2
