# Braces that make more words than there is memory for.
echo {1..99999999999}; echo @{a,b,c,d,e,f,g,h}*12@ | wc -c
