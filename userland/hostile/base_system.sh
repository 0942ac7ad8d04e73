# Tries to change the files of the base system.
for c in "echo x > /bin/ls" "rm -f /bin/bash" "mv /bin /nib" "ln -sf /tmp/x /bin/ls" "chmod u+w /bin/ls" "touch /bin/ls" "mkdir /bin/new" "cp /bin/echo /bin/ls" "echo root >> /etc/passwd" "truncate -s 0 /bin/sh"; do bash -c "$c" 2>> why && echo "$c"; done; grep -c . why; ls -d /bin/ls
