sleep 5 & sleep 6 &
for p in /proc/[0-9]*; do echo $p; cat $p/comm $p/cmdline $p/stat 2>/dev/null | tr '\0' ' '; done
kill %1 %2; wait
