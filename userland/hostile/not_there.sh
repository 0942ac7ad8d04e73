# Runs what is not there.
./nothing; echo $?; /nowhere/at/all; echo $?; nothing-by-that-name
