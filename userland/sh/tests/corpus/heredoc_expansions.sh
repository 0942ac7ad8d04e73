a=(1 2 3); declare -A m=([k]=v); cat <<EOF
${a[@]} ${#a[@]} ${m[k]} ${a[*]:1} "${a[0]}" '${a[1]}' $((a[2]*2)) ${x:-"quoted"} ${x:-'single'} \\ \a \" \' \`
$(for i in 1 2; do echo "i=$i"; done)
`echo back` ${HOME:+home} $1 $# $? !history
EOF
set -- p q; cat <<EOF
$1 $2 "$@" $*
EOF
