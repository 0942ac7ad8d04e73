# A small archive that expands to a large file.
head -c 300000000 /dev/zero | gzip > bomb.gz; ls -l bomb.gz | wc -l; gunzip bomb.gz; echo $?; tar xzf bomb.gz; echo $?
