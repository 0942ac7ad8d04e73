(( sleep 2; echo inner ) & sleep 1; echo middle; wait; echo after ) & echo outer; wait; date +%s
