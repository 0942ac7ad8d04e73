# Ten thousand lists within each other, as data for jq.
printf '%10000s' '' | tr ' ' '[' | jq . ; echo "ended $?"
