# More arguments than there may be.
/bin/echo $(seq 400000); echo "ended $?"
