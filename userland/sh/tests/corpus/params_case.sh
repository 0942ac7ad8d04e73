x='hello World'; echo ${x^} ${x^^} ${x,} ${x,,} ${x~} ${x~~}
echo ${x^^[lo]} ${x,,[W]} ${x^h} ${x^z}
a=(one two); echo ${a[@]^} ${a[@]^^}
