# Opens files until there is no number left.
while exec {fd}< /dev/null; do :; done; echo "$((fd < 200))"
