# Starts background processes that ignore the end of their command.
trap '' HUP TERM
(trap '' HUP TERM; while :; do date +%s%N > beat; done) & disown
setsid sleep 1000 > /dev/null 2>&1 &
nohup sleep 1000 > /dev/null 2>&1 &
coproc sleep 1000
((sleep 1000 &) &)
echo begun
