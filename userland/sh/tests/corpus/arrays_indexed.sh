a=(one "two three" four); echo "${a[0]}" "${a[1]}" ${#a[@]}
a[5]=six; echo "${!a[@]}" "${a[@]}"
a+=(seven eight); echo "${!a[@]}"; a[1]+=X; echo "${a[1]}"
unset 'a[0]'; echo "${!a[@]}"; echo "${a[-1]}" "${a[-2]}"
b=([3]=c [1]=a x); echo "${!b[@]}" "${b[@]}"
for e in "${a[@]}"; do printf '<%s>' "$e"; done; echo
c=("${a[@]}"); echo ${#c[@]}; c=(); echo ${#c[@]} "[${c[@]}]"
i=2; d=(x y z); echo ${d[i]} ${d[$i]} ${d[i-1]} ${d[$((i-2))]}
d[i+1]=w; echo "${d[@]}"; echo "${d[*]}"; IFS=-; echo "${d[*]}"
s=scalar; echo ${s[0]} ${#s[@]} "${s[@]}"; s[2]=x; echo "${!s[@]}"
