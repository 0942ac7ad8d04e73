# Truncated and malformed modules.
printf '\0asm' > m1; printf '\0asm\1\0\0\0\377\377' > m2; printf '\0asm\1\0\0\0\1\377\377\377\377\17' > m3; printf '\0asm\15\0\1\0' > m4
printf '\0asm\1\0\0\0\12\5\1\200\200\200\200' > m5; printf '\0asm\377\377\377\377' > m6
head -c 5000 /bin/coreutils > m7 2> /dev/null || head -c 5000 /bin/ls > m7
(head -c 100000 /bin/ls; head -c 100000 /dev/zero) > m8
for m in m?; do chmod +x $m; ./$m; echo "$m $?"; done
