shopt -s extglob
touch a.txt b.md c.c ab abab
echo @(a|b).* ; echo !(*.txt) ; echo ?(ab)ab; echo +(ab); echo *(ab)
x=foobar; echo ${x%%+(a|r|b)} ${x##@(foo|bar)} ${x//+(o)/0}
case foo in @(foo|bar)) echo yes;; esac; case baz in !(foo|bar)) echo not;; esac
[[ abc == a!(x)c ]] && echo m
