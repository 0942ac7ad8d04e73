# Field widths and numbers larger than memory.
printf '%99999999999d' 1; printf '%*s' 2147483647 x | wc -c; echo $((1 ? 2 : 3)); seq -w 99999999999999999 | head -1; awk 'BEGIN { printf "%2147483647d", 1 }' | wc -c
