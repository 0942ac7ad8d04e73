# Deeply nested groups in every dialect of regular expressions.
for tool in 'grep -E' 'sed -nE' awk 'grep -P' rg; do
  case $tool in sed*) echo a | sed -nE '/@(*10000@a@)*10000@/p';; awk) echo a | awk '/@(*10000@a@)*10000@/';;
  *) echo a | $tool '@(*10000@a@)*10000@';; esac
  echo "$tool ended with $?" >&2
done
