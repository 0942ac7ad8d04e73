# Reads from a pipe while it holds the write end.
exec {fd}<> <(:); cat <&$fd; sleep 1000 | cat
