cat <<< hello; x='a b'; cat <<< $x; cat <<< "$x y"; read a b <<< "1 2 3"; echo "$a|$b"; tr a b <<< banana; cat <<< ''
