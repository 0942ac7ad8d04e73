# An awk array that grows without end.
awk 'BEGIN { for (;;) a[n++] = n }'
