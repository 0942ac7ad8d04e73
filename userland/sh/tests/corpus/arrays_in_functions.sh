f() { local -a l=(1 2 3); l+=(4); echo "${l[@]}"; local -A h=([a]=b); echo "${h[a]}"; }; f; echo "[${l[@]}]"
g() { local -n ref=$1; ref+=(new); echo "${#ref[@]}"; }; arr=(x y); g arr; echo "${arr[@]}"
declare -n r=arr; r[0]=changed; echo "${arr[@]}" "${!r}"
