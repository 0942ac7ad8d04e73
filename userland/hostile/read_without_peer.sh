# Reads from a pipe of which it is the only writer, too.
exec {fd}<> <(:); cat <&$fd; sleep 1000 | cat
