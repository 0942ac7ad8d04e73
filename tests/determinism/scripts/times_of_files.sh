touch a; sleep 2; touch b; mkdir d; sleep 0.001; echo x > d/c
ls -la --full-time; ls -la d
stat a b d d/c
