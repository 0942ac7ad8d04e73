yes | head -5; yes no | head -c 100000 | wc -c; seq 1 1000000 | head -3
