sleep 3 & ps 2>&1; ps aux 2>&1; jobs; wait
