declare -A m; for w in one two three four five six seven; do m[$w]=${#w}; done
for k in "${!m[@]}"; do echo $k ${m[$k]}; done
