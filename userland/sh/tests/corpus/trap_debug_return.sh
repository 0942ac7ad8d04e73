trap 'echo "D"' DEBUG; echo a; x=1; trap - DEBUG; echo b
