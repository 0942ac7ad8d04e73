# Opens files until the descriptor limit is reached.
while exec {fd}< /dev/null; do :; done; echo "$((fd < 200))"
