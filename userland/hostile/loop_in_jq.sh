# An endless tail recursion, which uses no stack.
jq -n 'def f: f; f'
