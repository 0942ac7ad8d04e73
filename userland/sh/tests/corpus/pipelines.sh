echo abc | tr a-c A-C
seq 5 | while read n; do echo $((n*n)); done | paste -sd+
false | true; echo $? ${PIPESTATUS[@]}; true | false | true; echo "${PIPESTATUS[@]}"; (exit 3) | (exit 4); echo ${PIPESTATUS[0]} ${PIPESTATUS[1]}
set -o pipefail; false | true; echo $?; set +o pipefail; ! true; echo $?; ! false | true; echo $?
echo x | { read v; echo "v=$v"; }; echo "[$v]"; echo err 2>&1 >&2 | cat; { echo o; echo e >&2; } |& sort
yes | head -2; echo a | cat | cat | cat; echo "a
b" | grep b; seq 1000 | tail -1; x=1; echo | x=2; echo $x
echo hi | (cat; echo there); for i in 1 2; do echo $i; done | cat; if true; then echo t; fi | cat
