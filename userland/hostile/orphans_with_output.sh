# Starts a child process that keeps standard output open.
(sleep 1000; echo late) & echo soon
