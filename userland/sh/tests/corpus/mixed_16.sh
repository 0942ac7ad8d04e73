( PATH=/nonexistent nosuch; echo $?; PATH=$PATH:/tmp; echo ok
)
echo "status $?"
( echo "${PIPESTATUS[@]}"; true | false; echo "${PIPESTATUS[0]}${PIPESTATUS[1]}"; false | true; [[ ${PIPESTATUS[0]} -ne 0 ]] && echo first failed
)
echo "status $?"
( read -r -d '' v <<'EOF'
multi
line
EOF
echo "[$v]"
)
echo "status $?"
( v=$(cat <<EOF
  indented $((1+1))
EOF
)
echo "$v"
)
echo "status $?"
