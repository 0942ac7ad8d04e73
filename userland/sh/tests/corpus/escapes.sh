# The escapes of echo -e, printf %b, the format of printf and $'..': what they share and what they do not.
show() { od -An -tx1 -v | tr -d '\n'; echo; }
for text in '\a\b\e\E\f\n\r\t\v\\' '\101\0101\8\08\377\0377\400\0400\1\18' '\x41\x4g\xg\x' '\u41\u20ac\uzz\u' \
    '\U1F600\U41\Uzz' "\\'" '\"' '\?' '\q\ \-' 'end\' '\u00e9t\u00e9' '\1011' '\01011' '\x411' '\u00411'; do
    echo -e "$text" | show
    printf '%b' "$text" | show
    printf "$text" | show
    eval "printf %s \$'$text'" 2>&1 | show
done
echo -e 'a\cb' | show
printf '%b' 'a\cb' c | show
printf 'a\cb\n' | show
printf %s $'a\cb\cB\c?\c[' | show
printf %s $'a\0b' $'c\x00d' | show
echo -e 'a\0b\x00c' | show
printf '\x'; echo " $?"
printf %b '\u'; echo " $?"
