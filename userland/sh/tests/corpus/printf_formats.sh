printf '%s %d %i\n' a 5 -3; printf '%5s|%-5s|%05d|%+d|% d\n' ab cd 42 7 7; printf '%x %X %o %u %#x %#o\n' 255 255 8 42 255 8
printf '%.2f %8.3f %e %g %G\n' 3.14159 2.5 12345.678 0.0001 1e20; printf '%c%c\n' hello world; printf '%%|%5.2s|\n' abcdef; printf '%s\n' a b c; printf '%s-%s\n' 1 2 3
printf 'no newline'; echo; printf '%b' 'a\tb\n\x41\0101\n'; printf '%q %q %q\n' 'a b' "it's" ''; printf '%q\n' $'x\ny' '$v' 'a;b' plain; printf '\x41\102\t|\n'
printf '%*d|%-*d|\n' 5 42 5 42; printf '%.*f\n' 2 3.14159; printf -v v '%03d' 7; echo $v; printf -v a[2] x; echo ${a[2]}; printf '%d %d\n' 0x10 010; printf "%d\n" "'A"; printf '%s\n'; printf '%d\n'
printf '%5d|%-5d|%05.1f\n' 1 2 3.14; printf '%s %s\n' only; printf '%d\n' abc; echo $?; printf '%(%Y-%m-%d)T\n' 0; printf '%(%H:%M:%S %j %a %b)T\n' 86399; printf 'a\cb\n'; echo; printf '%b|\n' 'x\cy' z; printf -- '-%s-\n' x
printf '%s' "${e[@]}"; printf '[%s]\n' "$@"; printf '%i%%\n' 50; printf '%10.3e|\n' 1234.5; printf '%-10s|%10s|\n' left right; printf '%s\n' "$(printf '%03d,' {1..5})"; printf '\u00e9\n'; printf '%ld %lld\n' 1 2
