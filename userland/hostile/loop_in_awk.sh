# An endless loop in an awk program.
awk 'BEGIN { for (;;); }'
