mkdir d; echo x > d/a; sleep 2; echo y > d/b; tar cf d.tar d 2>&1; cat d.tar 2>/dev/null | md5sum; du -a d; df 2>&1 | head -3
