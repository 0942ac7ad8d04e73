select x in one two three; do echo "got $x $REPLY"; [ "$x" = two ] && break; done <<< $'1\n9\n2' 2>/dev/null; echo $?
