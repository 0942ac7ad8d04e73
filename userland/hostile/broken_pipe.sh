# Writes on when nobody reads.
yes | head -1; echo "${PIPESTATUS[0]}"
