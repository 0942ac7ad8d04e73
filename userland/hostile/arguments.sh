# Passes more arguments than the limit.
/bin/echo $(seq 400000); echo "ended $?"
