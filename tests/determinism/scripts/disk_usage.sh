head -c 300000 /dev/urandom > big; cp big copy; ln big link; du -a . | sort; wc -c *; cksum *
