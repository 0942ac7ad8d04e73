# Writes to one file without end.
cat /dev/zero > big; echo "cat ended $?"; stat -c %s big
