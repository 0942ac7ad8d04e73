seq 5 -1 1 | xargs -P 5 -I{} sh -c 'sleep {}; echo slept {}'
