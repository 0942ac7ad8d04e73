# A deeply nested array as a jq program.
jq -n '@[*10000@1@]*10000@'
