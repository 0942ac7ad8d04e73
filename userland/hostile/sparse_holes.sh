# Writes single bytes with large holes between them.
i=0; while why=$(printf x | dd of=holes bs=1 seek=$((i * 65536)) conv=notrunc 2>&1); do i=$((i + 1)); [ $i -lt 300 ] || break; done; echo "$why" | grep "No space" >&2; [ $i -lt 300 ] && echo bounded
