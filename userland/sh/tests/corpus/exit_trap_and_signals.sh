(trap 'echo bye' EXIT; kill -TERM $BASHPID; echo no); echo $?
bash -c 'trap "echo bye" EXIT; kill -INT $$; echo after'; echo $?
(trap 'echo t; exit 5' TERM; trap 'echo bye' EXIT; kill -TERM $BASHPID; echo no); echo $?
trap 'echo last; exit 7' EXIT; exit 3
