# A deeply nested awk program.
awk 'BEGIN { print @(*10000@1@)*10000@ }'
