# An endless line as input of grep.
cat /dev/zero | tr '\0' x | grep -c y; echo "grep ended ${PIPESTATUS[2]}"
