# Sorts endless input.
yes "a line to be sorted" | sort > /dev/null; echo "sort ended ${PIPESTATUS[1]}"
