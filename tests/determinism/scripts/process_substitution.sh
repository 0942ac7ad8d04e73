diff <(seq 1 10) <(seq 2 11); paste <(seq 1 5) <(seq 6 10); tee >(tr a-z A-Z > up) <<< hello >/dev/null; sleep 0.1; cat up
