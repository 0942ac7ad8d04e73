mkdir g; cd g; touch a.txt b.txt c.md .hidden 'sp ace' ; mkdir d; touch d/e.txt
echo *; echo *.txt; echo ?.md; echo [ab]*; echo [!ab]*; echo "*.txt" '*'; echo nomatch*; echo d/*; echo */; echo .h*
for f in *.txt; do echo "<$f>"; done
x='*.txt'; echo $x "$x"; echo *a*; echo [[:alpha:]].*; echo {a,z}*.txt
set -f; echo *.txt; set +f; shopt -s nullglob; echo nomatch* end; shopt -u nullglob
shopt -s dotglob; echo *; shopt -u dotglob
a=(*.txt); echo ${#a[@]}
