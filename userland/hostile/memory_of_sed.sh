# A line of sed that doubles.
echo x | sed ':a;s/x/xx/g;ta'
