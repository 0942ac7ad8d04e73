# Sets a variable larger than the limit for shell session state.
x=$(printf '%200000s' '')
