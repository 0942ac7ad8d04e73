# Loops for ever in a tool.
awk 'BEGIN { for (;;); }'
