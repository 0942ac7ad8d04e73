cat > conf <<'EOF'
# comment
name = demo
port=8080

path=/tmp/x y
EOF
while IFS='=' read -r k v; do [[ $k =~ ^[[:space:]]*(#|$) ]] && continue; k=${k// /}; v=${v# }; declare "cfg_$k=$v"; done < conf
echo "$cfg_name $cfg_port [$cfg_path]"; for v in ${!cfg_@}; do echo "$v=${!v}"; done; source /dev/stdin <<< 'A=1; B="two words"'; echo "$A $B"; set -a; . <(echo 'EXPORTED=yes'); set +a; sh -c 'echo $EXPORTED'
