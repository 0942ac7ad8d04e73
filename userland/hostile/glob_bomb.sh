# A pattern that matches the same names over and over.
for i in $(seq 30); do mkdir d$i; : > d$i/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done
echo @*/../*60@* | wc -c
