f=/usr/local/lib/libfoo.so.1.2
echo ${f#*/} ${f##*/} ${f%.*} ${f%%.*} ${f%/*}
x=aXbXc; echo ${x#*X} ${x##*X} ${x%X*} ${x%%X*}
p='*'; y='a*b'; echo "${y#*"$p"}" "${y%"$p"*}" "${y#a\*}"
echo "${f#/usr}" "${f%nomatch}" "${f#nomatch}"
z=file.tar.gz; echo "${z%%.*} ${z#*.} ${z%.gz}"
