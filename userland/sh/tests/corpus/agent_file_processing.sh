mkdir -p src/a src/b; for i in 1 2 3; do echo "content $i" > "src/a/file$i.txt"; done; echo x > src/b/other.md
for f in src/*/*.txt; do base=$(basename "$f" .txt); dir=$(dirname "$f"); mv "$f" "$dir/${base}_renamed.txt"; done
find src -type f | sort; for f in src/a/*; do printf '%s: %s\n' "${f##*/}" "$(<"$f")"; done
if [[ -d src/a && ! -e src/c ]]; then cp -r src/a src/c; fi; ls src/c | wc -l; rm -rf src/c; [ -e src/c ] || echo removed
wc -l src/a/* | tail -1 | sed 's/^ *//'; tar cf - src 2>/dev/null | tar tf - 2>/dev/null | wc -l > /dev/null; echo done
