# Keeps more in the session than there is room for.
x=$(printf '%200000s' '')
