set -o pipefail; false | true; echo $?; seq 1 5 | grep 9 | cat; echo $? ${PIPESTATUS[*]}
