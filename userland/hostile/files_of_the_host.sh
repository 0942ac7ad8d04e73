# Reads files that a host has and a sandbox does not, and follows links that lead above the root.
ln -s / up; ln -s ../../../../../.. far
for f in /etc/shadow /etc/gshadow /root/.ssh /proc/1/root/etc/shadow /proc/self/root/etc/shadow /proc/self/cwd/../../../etc/shadow /proc/kcore /proc/kallsyms /dev/mem /dev/sda /dev/kmsg /var/run/docker.sock ../../../../../../etc/shadow //etc/shadow up/etc/shadow far/etc/shadow; do
  { cat "$f" || ls "$f"; } 2> /dev/null && echo "found $f"
done
echo up/* far/* | tr ' ' '\n' | sed 's|.*/||' | sort | uniq -c | awk '{ printf "%s*%d ", $2, $1 } END { print "" }'
cat /proc/1/environ | wc -c; grep -c . /etc/passwd
