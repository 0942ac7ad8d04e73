seq 1 50 > f; sed -i 's/1/one/g' f; grep -c one f; sed -n '5,10p' f; ls -la f | cut -c1-60; stat -c '%Y %Z %i' f
