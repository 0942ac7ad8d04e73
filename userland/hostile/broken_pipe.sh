# Continues to write after the reader has exited.
yes | head -1; echo "${PIPESTATUS[0]}"
