# A list in a list in a list, as a program for jq.
jq -n '@[*10000@1@]*10000@'
