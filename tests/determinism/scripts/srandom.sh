echo $SRANDOM 2>/dev/null
RANDOM=42
echo $RANDOM $RANDOM
