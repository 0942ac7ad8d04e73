n=0; try() { n=$((n+1)); [ $n -ge 3 ]; }; until try; do echo "attempt $n failed"; ((n < 5)) || break; done; echo "ok after $n"
for attempt in 1 2 3; do if [ $attempt -eq 2 ]; then echo success; break; fi; echo "retry $attempt"; done || echo never
