( x=a; case $x in a) echo 1 ;& b) echo 2 ;;& *) echo 3 ;; esac
)
echo "status $?"
( unset a; a[3]=x; echo ${#a[@]} ${!a[@]}; a=([2]=b c); echo "${!a[@]}" "${a[@]}"; a+=([9]=z); echo ${!a[@]}
)
echo "status $?"
( shopt -s extglob; f=report_2024.csv; echo ${f//+([0-9])/N} ${f%%+([0-9]).*} ${f/@(report|x)/R}; [[ $f == *_+([0-9]).csv ]] && echo m
)
echo "status $?"
( mapfile -t a <<< "$(printf 'z\ny\nx')"; IFS=$'\n' s=($(sort <<< "${a[*]}")); unset IFS; echo "${s[@]}"
)
echo "status $?"
