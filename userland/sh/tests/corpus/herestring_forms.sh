read -r a b <<< "x y"; echo "$b$a"; cat <<< "multi
line"; cat <<< $(echo sub); cat <<< "$(printf 'a\n\n')"; wc -c <<< ""; tr ' ' '\n' <<< "a b c" | sort -r; v='a   b'; cat <<< $v; cat <<< "$v"; cat <<< *; grep -c . <<< 'x'; while read -r l; do echo "[$l]"; done <<< 'a\nb'; IFS=, read -ra q <<< "1,2"; echo ${q[1]}
