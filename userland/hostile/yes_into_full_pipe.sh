# Writes for ever into a pipe that nobody reads.
yes | sleep 1000
