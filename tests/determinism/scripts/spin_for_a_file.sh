(sleep 1; touch flag) &
(echo working > early) &
until [ -e early ]; do :; done
echo seen early
wait
ls
