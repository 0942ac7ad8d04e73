seq 1 100 | sort -R
