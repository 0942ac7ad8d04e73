[[ abc123 =~ ^[a-z]+([0-9]+)$ ]] && echo "${BASH_REMATCH[0]} ${BASH_REMATCH[1]}"; [[ abc =~ x ]]; echo $?
re='^([^:]+):(.*)$'; [[ key:val:x =~ $re ]] && echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]} ${#BASH_REMATCH[@]}"
[[ "a.c" =~ a\.c ]] && echo esc; [[ abc =~ "a.c" ]] || echo quoted; [[ 2024-01-15 =~ ([0-9]{4})-([0-9]{2}) ]] && echo ${BASH_REMATCH[@]}
[[ foo@bar.com =~ ^[[:alnum:]._]+@[[:alnum:].]+\.[a-z]{2,}$ ]] && echo mail; [[ "a b" =~ a\ b ]] && echo sp; [[ ab =~ (a)(x)?(b) ]] && echo "[${BASH_REMATCH[2]}]" ${#BASH_REMATCH[@]}
x=' lead'; [[ $x =~ ^[[:space:]]+ ]] && echo ws; [[ 'a|b' =~ a\|b ]] && echo pipe; [[ xay =~ a|b ]] && echo alt; [[ '$5' =~ ^\$[0-9]$ ]] && echo dollar; [[ "[x]" =~ ^\[.\]$ ]] && echo br; [[ aXb =~ [^a-z] ]] && echo ${BASH_REMATCH[0]}
