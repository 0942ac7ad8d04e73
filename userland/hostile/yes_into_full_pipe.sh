# Writes without end to a pipe that is never read.
yes | sleep 1000
