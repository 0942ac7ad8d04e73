# A file of single bytes, each far from the last.
i=0; while printf x | dd of=holes bs=1 seek=$((i * 65536)) conv=notrunc 2>> why; do i=$((i + 1)); [ $i -lt 300 ] || break; done; grep "No space" why >&2; [ $i -lt 300 ] && echo bounded
