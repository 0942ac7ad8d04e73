seq 1 100 | shuf
shuf -n 5 -i 1-1000
shuf -e a b c d e f
