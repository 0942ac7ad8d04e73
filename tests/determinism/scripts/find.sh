mkdir -p a/b/c a/d; touch a/1 a/b/2 a/b/c/3 a/d/4
find . -type f | sort; find . -name '*' -newer a/1; find / -maxdepth 1; find . -type f -exec cat {} +
