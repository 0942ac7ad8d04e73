declare -A m; m[a]=1; m["b c"]=2; m[d]=3
echo ${m[a]} "${m[b c]}" ${#m[@]}
for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort
k=d; echo ${m[$k]}; unset 'm[a]'; echo ${#m[@]}
declare -A n=([x]=10 [y]=20 [z w]=30); echo "${n[z w]}"; n[x]+=5; echo ${n[x]}
[[ -v n[x] ]] && echo has; [[ -v n[q] ]] || echo hasnt
declare -p n
echo "${n[@]}" "${!n[@]}"
m=([one]=1 [two]=2 [three]=3 [four]=4 [five]=5); echo "${!m[@]}"
