# Runs programs that do not exist.
./nothing; echo $?; /nowhere/at/all; echo $?; nothing-by-that-name
