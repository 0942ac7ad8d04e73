seq 1 40 | xargs -P 4 -n 1 echo item
