mkdir -p app/src && cd app && export APP_ENV=test
printf 'name=demo\nversion=1.2.3\n' > settings
----
while IFS='=' read -r key value; do declare "config_$key=$value"; done < settings
unset key value
----
echo "$config_name $config_version ${PWD##*/} $APP_ENV"
log() { printf '[%s] %s\n' "${level:-info}" "$*" >&2; }
----
level=warn; log from the session 2>&1
cd src; for part in a b c; do echo "part $part" > $part.txt; done
----
files=(*.txt); echo "${#files[@]} in ${PWD##*/}: ${files[*]}"
total=0; for file in "${files[@]}"; do total=$((total + $(wc -c < "$file"))); done
----
echo "$total $file"
declare -A size; for file in "${files[@]}"; do size[$file]=$(wc -c < "$file"); done
----
for file in "${!size[@]}"; do echo "$file ${size[$file]}"; done | sort
unset size files
----
echo "${#files[@]} ${size-none}"
set -u; trap 'echo never' USR1; : "${later:=default}"; set +u
----
echo "$later"; IFS=, read -r x y <<< "1,2"; echo "$x-$y"
----
echo "$x-$y"; printf -v padded '%05d' 42
----
echo "$padded"; mapfile -t lines < <(seq 3); echo "${lines[-1]}"
----
echo "${lines[@]}"; ((count++)); ((count += 2)); let total=count*2
----
echo "$count $total"; select_none() { return 3; }; select_none
----
type -t select_none; (exit 4); result=$?
----
echo "$result"; cat <<END > "$HOME/made-by-session.$$" && rm "$HOME/made-by-session.$$"
$APP_ENV
END
----
echo "${config_version%%.*}" "${config_version##*.}" "${config_name^^}"
