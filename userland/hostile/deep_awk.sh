# A deep program for awk.
awk 'BEGIN { print @(*10000@1@)*10000@ }'
