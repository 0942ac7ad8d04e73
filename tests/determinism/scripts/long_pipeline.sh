seq 1 5000 | tee all.txt | awk 1 2>/dev/null || seq 1 5000 | tr 0-9 a-j | sort | uniq -c | sort -rn | cut -c1-12 | head -30
