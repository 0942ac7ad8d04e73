# Is asked to end by `timeout`, and does not listen.
timeout -k 0.1 0.1 bash -c "trap '' TERM; while :; do :; done"; echo "ended $?"
