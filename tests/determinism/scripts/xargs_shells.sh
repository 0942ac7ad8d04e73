seq 1 12 | xargs -P 3 -n 2 sh -c 'for i in 1 2 3; do echo $0 $1 $i; done'
