# Writes for ever to standard output.
yes
