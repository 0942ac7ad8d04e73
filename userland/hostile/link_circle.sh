# A cycle of symbolic links, and a chain longer than the limit.
ln -s b a; ln -s a b; cat a; : > f0; for i in $(seq 50); do ln -s f$((i - 1)) f$i; done; cat f40 && cat f41; echo "ended $?"; ln -s . dot; ls -R . > /dev/null; find -L . > /dev/null; echo walked
