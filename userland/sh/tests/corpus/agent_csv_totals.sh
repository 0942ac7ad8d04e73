printf 'name,qty,price\napple,3,1.50\npear,2,2.25\nfig,10,0.10\n' > data.csv
sum=0; { read -r header; while IFS=, read -r name qty price; do cents=${price/./}; sum=$((sum + qty * 10#$cents)); printf '%-8s%3d @ %s\n' "$name" "$qty" "$price"; done; } < data.csv
printf 'total %d.%02d\n' $((sum/100)) $((sum%100)); IFS=, read -ra cols <<< "$header"; echo "${#cols[@]} ${cols[1]}"
sort -t, -k2,2nr data.csv | head -1; cut -d, -f1 data.csv | tail -n +2 | sort | tr '\n' ' '; echo
