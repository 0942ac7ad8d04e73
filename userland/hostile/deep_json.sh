# An array with 10,000 levels as JSON input of jq.
printf '%10000s' '' | tr ' ' '[' | jq . ; echo "ended $?"
