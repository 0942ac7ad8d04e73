(seq 1 100000; echo status $? >&2) | head -2; echo ${PIPESTATUS[*]}
