seq 1 2000 | grep 7 | sort -r | head -20 | tac
