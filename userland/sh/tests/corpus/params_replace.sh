x='hello world hello'
echo "${x/hello/bye}" "${x//hello/bye}" "${x/#hello/A}" "${x/%hello/Z}" "${x//l}" "${x/o*/}"
echo "${x//[aeiou]/_}" "${x// /}" "${x//?/.}"
p=/a/b/c; echo "${p//\//-}" "${p//\//}" ${p////+}
a=(foo bar baz); echo "${a[@]/b/X}" "${a[@]/#/pre-}" "${a[@]/%/.txt}"
r='a&b'; echo "${x/hello/[&]}" "${x/hello/\&}" "${x/hello/"$r"}"
