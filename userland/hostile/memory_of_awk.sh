# A table of awk that grows.
awk 'BEGIN { for (;;) a[n++] = n }'
