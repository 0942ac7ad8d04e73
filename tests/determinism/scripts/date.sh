date; date +%s.%N; date -u +%FT%TZ; sleep 1.5; date +%s.%N
