# A line in sed that doubles without end.
echo x | sed ':a;s/x/xx/g;ta'
