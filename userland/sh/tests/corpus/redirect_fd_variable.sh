exec {fd}> vf; echo hello >&$fd; exec {fd}>&-; cat vf; echo $((fd >= 10))
exec {in}< vf; read -u $in l; echo $l; exec {in}<&-
echo moved 5>&1 >&5; exec 6>&1 7>&6-; echo x >&7; exec 7>&-; { echo y >&6; } 2>/dev/null || echo closed
