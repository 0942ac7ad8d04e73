# A module over the size limit.
(printf '\0asm\1\0\0\0'; head -c 3000000 /dev/zero) > m; chmod +x m; ./m; echo $?
