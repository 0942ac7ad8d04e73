for i in $(seq 1 200); do echo out $i; echo err $i >&2; done
