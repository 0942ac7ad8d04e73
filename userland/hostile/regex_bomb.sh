# Regular expressions with exponential backtracking.
x=$(printf '%40s' '' | tr ' ' a)
for tool in 'grep -cE' 'grep -cP' 'grep -c' 'rg -cP' rg; do echo "${x}b" | timeout 5 $tool '^(a+)+$' > /dev/null; echo "$tool $?" >> ends; done
echo "${x}b" | timeout 5 sed -nE '/^(a|aa)+$/p'; echo "${x}b" | timeout 5 awk '/^(a|a)*$/'; [[ ${x}b =~ ^(a|aa)+$ ]]
echo "${x}b" | timeout 5 grep -cE '^((a+)+)\1*\2*$'; echo "${x}b" | timeout 5 grep -cP '^(a+)+\1$'
jq -n --arg x "${x}b" '$x | test("^(a+)+$")'; echo over
