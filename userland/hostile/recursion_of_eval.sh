# A text that evaluates itself.
x='eval "$x"'; eval "$x"
