seq 1 30000 | shuf | sort -n | md5sum; seq 1 20000 | shuf | sha256sum
