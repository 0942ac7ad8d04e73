# A jq array that grows without end.
jq -n '[range(1e12)] | length'
