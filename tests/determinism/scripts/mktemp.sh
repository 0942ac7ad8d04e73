mktemp; mktemp -d; mktemp -u xx.XXXXXX; mktemp /tmp/abc.XXXXXXXX
ls /tmp
