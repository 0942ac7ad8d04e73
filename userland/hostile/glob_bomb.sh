# A glob whose number of matches is exponential.
for i in $(seq 30); do mkdir d$i; : > d$i/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done
echo @*/../*60@* | wc -c
