cat > app.log <<'LOG'
2024-01-15 10:00:01 INFO start id=1
2024-01-15 10:00:02 ERROR failed id=2 code=500
2024-01-15 10:00:03 WARN slow id=3
2024-01-15 10:00:04 ERROR failed id=4 code=404
LOG
grep -c ERROR app.log; grep ERROR app.log | sed 's/.*code=//' | sort | uniq -c | sort -rn | sed 's/^ *//'
declare -A counts
while read -r date time level rest; do ((counts[$level]++)); done < app.log
for k in $(printf '%s\n' "${!counts[@]}" | sort); do printf '%-6s %d\n' "$k" "${counts[$k]}"; done
total=$(wc -l < app.log); echo "total: $total"; cut -d' ' -f3 app.log | sort -u | paste -sd,
