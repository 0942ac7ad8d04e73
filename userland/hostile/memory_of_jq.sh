# A list of jq that grows.
jq -n '[range(1e12)] | length'
