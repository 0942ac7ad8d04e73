# One file without an end.
cat /dev/zero > big; echo "cat ended $?"; stat -c %s big
