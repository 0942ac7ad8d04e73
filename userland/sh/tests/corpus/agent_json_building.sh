items=(alpha "be ta" 'ga"mma'); out='['; sep=; for i in "${items[@]}"; do i=${i//\\/\\\\}; i=${i//\"/\\\"}; out+="$sep\"$i\""; sep=,; done; out+=']'; echo "$out"
join() { local IFS=$1; shift; echo "$*"; }; join , a b c; join '|' x y; printf -v csv '%s,' "${items[@]}"; echo "${csv%,}"
