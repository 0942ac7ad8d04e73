( echo $'single \'quoted\' here' "dq 'sq' \"dq\""
)
echo "status $?"
( echo ${1:-none} "${2:-}" "${@:-empty}"; set -- ""; echo "${1:-null}" "${1-notnull}"
)
echo "status $?"
( v=path; printf -v "$v" %s value; echo $path; declare "v2=$v"; echo $v2; export "E1=x y"; sh -c 'echo $E1' 
)
echo "status $?"
( while [[ $# -gt 0 ]]; do shift; done; n=3; while ((n--)); do echo $n; done
)
echo "status $?"
