printf 'a\nb\nc\n' > x; printf 'a\nB\nc\n' > y; diff x y > d; echo $?; cat d; diff x x && echo same; cmp -s x y || echo differ; comm -12 x <(sort y) ; sort x y | uniq -d; paste -d: x y
