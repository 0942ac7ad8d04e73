( echo "x" > 'a b.txt'; for f in *.txt; do cat "$f"; mv "$f" "${f// /_}"; done; ls
)
echo "status $?"
( echo {1..5} | xargs -n2 echo; echo a b | xargs -I% echo "[%]"
)
echo "status $?"
( kill -l TERM; kill -l 9; kill -s TERM 999999 2>/dev/null || echo nokill
)
echo "status $?"
( sleep 0.05 & sleep 0.01 & wait -n; echo $?; wait; echo all
)
echo "status $?"
