echo $SECONDS; sleep 5; echo $SECONDS; printf '%(%F %T)T\n' -1
