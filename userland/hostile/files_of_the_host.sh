# Reads paths and links that could lead to files of the host.
for f in /etc/shadow /root/.ssh /proc/1/environ /proc/1/root/etc/shadow /proc/kcore /proc/sys /sys /dev/mem /dev/sda /home /var/run/docker.sock ../../../../../../etc/shadow //etc/shadow; do
  cat "$f" 2> /dev/null && echo "found $f"; ls "$f" 2> /dev/null | head -3
done; ln -s / up; ln -s ../../../../.. far; ls up/ far/ | grep -v : | sort -u | tr '\n' ' '; grep -c . /etc/passwd
