# Opens named pipes whose other end is never opened.
mkfifo f g; for i in 1 2 3 4 5 6 7 8; do cat f & done; echo x > g
