# Sorts what never ends.
yes "a line to be sorted" | sort > /dev/null; echo "sort ended ${PIPESTATUS[1]}"
