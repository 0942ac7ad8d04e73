# Brace expansions with more results than fit into memory.
echo {1..99999999999}; echo @{a,b,c,d,e,f,g,h}*12@ | wc -c
