//! Templates of common idioms, such as option loops and coprocesses.

use super::{ARRAYS, Grammar, MAPS, NUMBERS, SCALARS};

impl Grammar {
    /// One of the templates with its placeholders filled in. A placeholder is the name of a part between `‹` and `›`.
    pub(super) fn filled(&mut self, templates: &[&str]) -> String {
        let template = self.chance.pick(templates);
        let mut text = String::new();
        for (at, chunk) in template.split(['‹', '›']).enumerate() {
            if at % 2 == 0 {
                text.push_str(chunk);
            } else {
                text.push_str(&self.part(chunk));
            }
        }
        text
    }

    fn part(&mut self, name: &str) -> String {
        match name {
            "word" => self.word(),
            "words" => self.words(4),
            "text" => self.quoted_text(),
            "quoted" => format!("\"{}\"", self.in_quotes()),
            "expansion" => self.expansion(),
            "pattern" => self.arm_pattern(),
            "regex" => self.regex(),
            "expression" => self.expression_of(2),
            "test" => self.plain_test(),
            "command" => self.simple_alone(),
            "array" => self.chance.pick(ARRAYS).to_owned(),
            "list" => self.array_value(),
            "map" => self.chance.pick(MAPS).to_owned(),
            "number" => self.chance.pick(NUMBERS).to_owned(),
            "scalar" => self.chance.pick(SCALARS).to_owned(),
            "name" => self.name().to_owned(),
            "digit" => self.chance.below(7).to_string(),
            "file" => self.file().to_owned(),
            "letter" => self.chance.pick(&["Q", "U", "u", "L", "A", "a", "E", "K", "k", "P"]).to_owned(),
            "glob" => self.chance.pick(&["*", "*.txt", "f?.*", "[!f]*", "sub/*", "*[0-9]*", "nope*"]).to_owned(),
            "attribute" => {
                self.chance.pick(&["-i", "-u", "-l", "-x", "-a", "-A", "-n", "-r", "+i", "-ir", "-g"]).to_owned()
            }
            other => panic!("no part of a script is called {other}"),
        }
    }

    /// Builtins with unusual options.
    pub(super) fn builtin(&mut self) -> String {
        self.filled(&[
            "set -- ‹words›; while getopts ':ab:c' o; do case $o in a) echo A;; b) echo \"B=$OPTARG\";; :) echo \"no $OPTARG\";; \\?) echo \"bad $OPTARG\";; esac; done; shift $((OPTIND-1)); echo \"rest $*\"; OPTIND=1",
            "while getopts 'xy:' o -x -yval -y -- z; do echo \"$o,${OPTARG-unset},$OPTIND\"; done; OPTIND=1",
            "getopts 'a:' ‹scalar› -a; echo \"$? $‹scalar› ${OPTARG-unset}\"; OPTIND=1",
            "printf -v ‹name› '%d-%s' ‹digit› ‹word›; declare -p ‹name›",
            "printf -v '‹array›[‹digit›]' '%05.1f' ‹digit›; echo \"${‹array›[@]}\"",
            "printf -v '‹map›[a b]' '%q' ‹text›; echo \"${‹map›[a b]}\"",
            "printf '%s:%-‹digit›s|%‹digit›s|\\n' ‹words›",
            "printf '%b' ‹text› ‹text›; echo",
            "printf '%q %Q\\n' ‹text› ‹text›",
            "printf '%5b|%-5c|%.‹digit›b|\\n' ‹text› ‹text› ‹text›",
            "printf '%(%Y-%m-%d)T %s\\n' ‹digit›‹digit›00000 ‹word›",
            "printf '%d %d\\n' \"'a\" '\"b'; printf '%x,%o,%X\\n' ‹digit›‹digit›‹digit› ‹digit›‹digit› 255",
            "printf '%*.*f|\\n' ‹digit› ‹digit› 3.14159; printf '%-+‹digit›d|% 0‹digit›d|\\n' ‹digit› ‹digit›",
            "printf '%s\\n' ‹words› | while IFS=‹text› read -r a b; do echo \"[$a][$b]\"; done",
            "read -r -d ‹text› ‹scalar› <<<‹word›; echo \"$? [$‹scalar›]\"",
            "IFS=‹text› read -ra ‹array› <<<‹word›; declare -p ‹array›",
            "read -n ‹digit› ‹scalar› <<<‹word›; echo \"$? [$‹scalar›] $REPLY\"",
            "read -N ‹digit› -r ‹scalar› <<<‹word›; echo \"$? [$‹scalar›]\"",
            "read -r -u 5 ‹scalar› 5<<<‹word›; echo \"$‹scalar›\"",
            "read -t 0 <<<‹word›; echo $?; read <<<‹word›; echo \"<$REPLY>\"",
            "{ read -r a; read -r -n 1 b; read -r c; } <<<$'one\\ntwo\\nthree'; echo \"$a|$b|$c\"",
            "mapfile -t -C 'echo cb' -c ‹digit› ‹array› < <(printf '%s\\n' ‹words›); echo \"${#‹array›[@]}\"",
            "mapfile -d ‹text› -t ‹array› <<<‹word›; declare -p ‹array›",
            "readarray -n ‹digit› -s ‹digit› -O ‹digit› ‹array› <<<$'a\\nb\\nc\\nd'; declare -p ‹array›",
            "mapfile <<<‹word›; declare -p MAPFILE",
            "type -t ‹scalar› echo if f0 ls; echo $?",
            "type -a true | head -n 1; type f0 2>&1 | head -n 1",
            "command -v echo if f0 nope; echo $?; command -V cd 2>&1",
            "command printf '%s\\n' ‹word›; builtin echo ‹word›",
            "echo() { builtin echo \"mine: $*\"; }; echo ‹word›; command echo ‹word›; unset -f echo",
            "cd() { builtin cd \"$@\" && pwd; }; cd sub; builtin cd ..; unset -f cd",
            "set -- ‹words›; echo $# \"${*:2}\" \"${@: -1}\"; shift 2; echo \"$? $#\"",
            "set -- ‹words›; set -- \"${@:2}\" \"$1\"; printf '<%s>' \"$@\"; echo",
            "eval \"‹scalar›=\\${‹array›[‹digit›]}\"; echo \"$‹scalar›\"",
            "eval 'for x in ‹digit› ‹digit›; do echo \"$x\"; done'",
            "echo 'echo sourced \"$@\" $#; return ‹digit›; echo never' >lib.sh; . ./lib.sh ‹words›; echo \"$? $#\"",
            "echo '‹scalar›=from_file; false' >lib.sh; source ./lib.sh; echo \"$? $‹scalar›\"",
            ". ./lib_none.sh; echo $?",
            "source /dev/stdin <<<'echo \"in $LINENO\"'",
            "let '‹number› = ‹digit› + ‹digit›' ‹number›++; echo \"$? $‹number›\"",
            "(( ‹number› = ‹expression› )) && echo \"yes $‹number›\" || echo \"no $‹number›\"",
            "test ‹word› -a ‹word›; echo $?; test ! ‹word›; echo $?",
            "declare ‹attribute› ‹scalar›=‹digit› 2>&1; declare -p ‹scalar›",
            "declare ‹attribute› new_one=‹word› 2>&1; declare -p new_one; unset new_one",
            "export ‹scalar›=‹word›; bash -c 'echo \"[$‹scalar›]\"'",
            "declare -x ‹scalar›; env | grep -c '^‹scalar›='",
            "umask 0‹digit›7; umask; umask -S; umask 022",
            "pushd sub >/dev/null; dirs | tail -c 5; popd >/dev/null; echo \"${#DIRSTACK[@]}\"",
            "hash ls 2>/dev/null; hash -t ls >/dev/null; echo $?; hash -r; hash",
            "alias ll='echo alias' 2>/dev/null; alias ll; unalias ll; alias ll; echo $?",
            "enable -n echo; type -t echo; enable echo; type -t echo",
            "shopt -s extglob; case ‹word› in +([0-9])) echo digits;; @(‹digit›|a*)) echo some;; *) echo other;; esac",
            "times >/dev/null; caller; echo $?; f() { caller 0; }; f | cut -d' ' -f1,2; unset -f f",
            "exec 7<<<‹word›; cat <&7; exec 7<&-; cat <&7; echo $?",
            "exec {in}<<<‹word› {out}>out; cat <&$in >&$out; exec {in}<&- {out}>&-; cat out",
        ])
    }

    /// Expansions, arrays and references as used in scripts.
    pub(super) fn idiom(&mut self) -> String {
        self.filled(&[
            "declare -n ref=‹array›; ref+=(‹word›); echo \"${ref[@]}\" ${#ref[@]} \"${!ref}\"; unset -n ref",
            "declare -n ref=‹scalar›; ref=‹word›; echo \"$‹scalar› ${ref@‹letter›} ${!ref}\"; unset -n ref",
            "declare -n ref='‹array›[‹digit›]'; ref=‹word›; declare -p ‹array›; unset -n ref",
            "declare -n ref=‹map›; for k in \"${!ref[@]}\"; do echo \"$k=${ref[$k]}\"; done; unset -n ref",
            "for ‹scalar› in ‹words›; do case $‹scalar› in ‹pattern›) echo one ;& ‹pattern›) echo two ;;& ‹pattern›) echo three ;; *) echo none; esac; done",
            "case ‹word› in ‹pattern› | ‹pattern› ) echo a;; (‹pattern›) echo b;& *) echo c; esac",
            "[[ ‹quoted› =~ ‹regex› ]] && declare -p BASH_REMATCH || echo \"no ${#BASH_REMATCH[@]}\"",
            "re='^([a-z]*)(.)?([0-9]+)?$'; [[ ‹quoted› =~ $re ]]; echo \"$? ${BASH_REMATCH[1]}|${BASH_REMATCH[2]}\"",
            "[[ ‹quoted› == ‹pattern› && ! ‹word› -ef ‹word› || -n ‹word› ]]; echo $?",
            "echo \"${‹name›@‹letter›}\" ${‹name›@‹letter›}",
            "echo \"${‹array›[@]@‹letter›}\" ${‹array›[*]@‹letter›} \"${@@‹letter›}\"",
            "echo \"${‹map›[@]@‹letter›}\" ${‹map›[*]@‹letter›}",
            "declare -A ‹map›; ‹map›[‹text›]=‹word›; ‹map›+=([k]=‹word›); for k in \"${!‹map›[@]}\"; do printf '%s=%s;' \"$k\" \"${‹map›[$k]}\"; done; echo",
            "‹array›=(‹words›); unset '‹array›[‹digit›]'; ‹array›+=(‹word›); declare -p ‹array›; echo ${!‹array›[@]}",
            "‹array›=([‹digit›]=‹word› [‹digit›]+=‹word› ‹word›); declare -p ‹array›",
            "‹array›=(\"${‹array›[@]:‹digit›:‹digit›}\"); echo \"${#‹array›[@]} ${‹array›[-1]-none}\"",
            "‹array›=(\"${‹array›[@]/‹pattern›/‹digit›}\"); printf '[%s]' \"${‹array›[@]}\"; echo",
            "‹array›=(\"${‹array›[@]#‹pattern›}\"); printf '[%s]' \"${‹array›[@]%%‹pattern›}\"; echo",
            "‹array›=(‹glob›); echo \"${#‹array›[@]}\" \"${‹array›[@]}\"",
            "shopt -s nullglob; echo ‹glob› ‹glob›; shopt -u nullglob; echo ‹glob›",
            "GLOBIGNORE='‹glob›'; echo *; unset GLOBIGNORE",
            "shopt -s globstar; echo ** **/*.txt; shopt -u globstar",
            "set -f; echo ‹glob›; set +f; echo ‹glob›",
            "echo {‹digit›..‹digit›}{a,b} x{‹word›,‹text›}y {‹digit›..-‹digit›..2} {0‹digit›..10}",
            "echo {a..‹scalar›} {‹digit›,{‹digit›,‹word›},} {,‹digit›}{,‹digit›}",
            "cat <<E1; cat <<-'E2'\nfirst ‹expansion› $(echo ‹word›)\nE1\n\tsecond ‹expansion›\n\tE2",
            "x=$(cat <<E\n  ‹expansion› $((‹expression›))\nE\n); echo \"[$x]\"",
            "f() { cat <<E\n$1 ‹expansion›\nE\n}; f ‹word›; declare -f f; unset -f f",
            "cat <<E | tr a-z A-Z\n‹expansion› \\$x `echo b`\nE",
            "cat <<\"E\" <<<‹word›\nlost ‹expansion›\nE",
            "‹scalar›=$'a\\tb\\'c'; echo \"$‹scalar›\" \"${‹scalar›@Q}\" ${‹scalar›/$'\\t'/-}",
            "echo \"${‹scalar›:-$(echo ‹word›)}\" \"${‹scalar›:+‹expansion›}\" ${‹scalar›+set}",
            "echo \"${‹scalar›:‹digit›:‹digit›}\" \"${‹scalar›: -‹digit›}\" \"${‹scalar›:0:-1}\"",
            "echo ${!‹scalar›*} \"${!a@}\" ${!‹array›[@]}",
            "‹scalar›=‹array›'[‹digit›]'; echo \"${!‹scalar›}\" \"${!‹scalar›-none}\"",
            "IFS=‹text›; echo $* \"$*\" ${‹array›[*]} \"${‹array›[*]}\"; IFS=$' \\t\\n'",
            "IFS=:; ‹scalar›=a:b::c; set -- $‹scalar›; echo $# \"$*\"; unset IFS",
            "‹scalar›=‹text›; set -- $‹scalar›; echo \"$#:$1\"",
            "for ((‹number›=‹digit›; ‹number›<‹digit›+3; ‹number›+=2)); do echo -n \"$‹number› \"; done; echo",
            "i=0; until ((++i > ‹digit›)); do ((i % 2)) && continue; echo $i; done",
            "select x in ‹words› b; do echo \"$REPLY:$x\"; break; done <<<‹digit› 2>&1",
            "PS3='pick '; select x in a 'b c' ‹word›; do [ \"$x\" ] || continue; echo \"$x\"; ((++n > 2)) && break; done <<<$'9\\n2\\n\\n1' 2>&1",
            "LC_ALL=C eval 'x=é; echo ${#x}'; x=é; echo ${#x} \"${x:0:1}\"",
            "echo \"$((‹digit›#1‹digit›)) $((0x‹digit›f)) $((-‹digit›/2)) $((-7%‹digit›))\"",
            "echo $((‹number›++ + ++‹number›)) $‹number› $((‹number› ? ‹digit› : ‹digit›)) $((1<<‹digit›|‹digit›&3^1))",
            "echo \"$(( ‹array›[‹digit›] = ‹expression› )) ${‹array›[‹digit›]}\"",
            "((‹array›[‹digit›]++, ‹number› -= ‹digit›)); echo \"${‹array›[‹digit›]} $‹number› $?\"",
            "set -- ‹words›; for a; do echo \"<$a>\"; done; while (($#)); do echo $#; shift; done",
            "‹scalar›+=‹word›; declare -i ‹number›; ‹number›+=‹digit›; echo \"$‹scalar› $‹number›\"",
            "declare -u up=‹word›; declare -l low=‹word›; up+=x; echo \"$up $low\"; unset up low",
            "‹scalar›=‹word› ‹scalar›=\"$‹scalar›\"x; echo \"$‹scalar›\"",
            "set -‹digit› 2>&1; echo $-; set -o | grep -c on$ >/dev/null; shopt -q extglob; echo $?",
            "set -x; ‹command›; { set +x; } 2>/dev/null",
            "set -u; (echo \"$unset_one\"); echo $?; (echo \"${‹array›[9]}\" \"${unset_one-}\"); echo $?; set +u",
            "set -e; ‹test› || echo caught; (false; echo no); echo after",
            "set -e; if ! (false); then echo not; fi; false || true; ! true; echo here; set +e",
            "(set -e; f() { false; echo in; }; f && echo and; f; echo never); echo $?",
            "set -o noclobber; echo a >out; echo b >out; echo c >|out; cat out; set +o noclobber",
        ])
    }

    /// Concurrent processes whose order is deterministic.
    pub(super) fn background_pair(&mut self) -> String {
        self.filled(&[
            "(exit ‹digit›) & wait $!; echo $?; wait; echo $?",
            "(exit ‹digit›) & wait -n; echo $?; wait -n; echo $?",
            "(exit ‹digit›) & p=$!; wait -n -p who; echo \"$? $((who == p))\"; unset who",
            "(exit ‹digit›) & p=$!; wait -p who $p; echo \"$? $((who == p))\"; wait $p; echo $?",
            "sleep 0.05 & p=$!; kill $p; wait $p 2>/dev/null; echo $?",
            "sleep 0.05 & jobs; wait; jobs",
            "sleep 0.05 & echo \"$(jobs -p | wc -l)\"; wait %1; echo $?; wait %9; echo $?",
            "{ echo ‹word›; exit ‹digit›; } & wait $!; echo \"$?\"",
            "coproc { read -r x; echo \"got $x\"; }; p=$COPROC_PID; echo ‹word› >&\"${COPROC[1]}\"; read -r y <&\"${COPROC[0]}\"; wait $p; echo \"$? $y\"",
            "coproc CO { cat; }; p=$CO_PID; echo ‹word› >&\"${CO[1]}\"; exec {CO[1]}>&-; cat <&\"${CO[0]}\"; wait $p; echo $?",
            "coproc tr a-z A-Z; p=$COPROC_PID; exec 6>&\"${COPROC[1]}\" {COPROC[1]}>&-; echo ‹word› >&6; exec 6>&-; cat <&\"${COPROC[0]}\"; wait $p",
            "cat <(echo ‹word›) <(echo ‹word›); paste -d, <(printf '%s\\n' ‹words›) <(seq 3)",
            "diff <(echo ‹digit›) <(echo ‹digit›) >/dev/null; echo $?",
            "while read -r x; do ‹scalar›=$x; done < <(printf '%s\\n' ‹words›); echo \"$‹scalar›\"",
            "echo ‹word› | tee >(cat >copy) >/dev/null; wait; sleep 0.03; cat copy",
            "shopt -s lastpipe; echo ‹word› | read -r ‹scalar›; echo \"$‹scalar› ${PIPESTATUS[*]}\"",
            "shopt -s lastpipe; printf '%s\\n' ‹words› | mapfile -t ‹array›; echo \"${#‹array›[@]}\"; shopt -u lastpipe",
            "echo ‹word› | read -r ‹scalar›; echo \"$‹scalar›\"",
            "(exit ‹digit›) | (exit ‹digit›) | true; echo \"$? ${PIPESTATUS[*]}\"",
            "set -o pipefail; (exit ‹digit›) | (exit ‹digit›) | cat; echo \"$? ${PIPESTATUS[*]}\"; set +o pipefail",
            "! (exit ‹digit›) | false; echo \"$? ${PIPESTATUS[@]}\"",
            "seq 100 | head -n ‹digit› | tail -n 1; echo \"${PIPESTATUS[1]}\"",
            "echo ‹word› |& cat; { echo err >&2; echo out; } |& sort",
            "x=$(echo ‹word›; exit ‹digit›); echo \"$? $x\"; echo \"$(exit ‹digit›)$?\"; x=$(false) y=$(true); echo $?",
            "local_none=$(‹command›); echo $?",
            "time_none=$( { echo out; echo err >&2; } 2>&1 >/dev/null ); echo \"$time_none\"",
            "trap 'echo usr1' USR1; kill -USR1 $$; echo after; trap - USR1",
            "trap 'echo \"exit $?\"' EXIT; (trap 'echo inner' EXIT; exit ‹digit›); echo $?",
            "(trap 'echo term; exit ‹digit›' TERM; kill $BASHPID; echo no); echo $?",
            "trap '' USR1; bash -c 'kill -USR1 $$; echo alive'; trap - USR1",
            "(trap 'echo err $?' ERR; false; (exit ‹digit›); false || true; if false; then :; fi)",
            "(set -E; trap 'echo err $LINENO' ERR; f() { false; }; f; true)",
            "(trap 'echo \"d $BASH_COMMAND\"' DEBUG; echo ‹digit›; x=‹digit›; [[ $x ]] && ((x)))",
            "(set -T; trap 'echo ret ${FUNCNAME[0]}' RETURN; f() { return ‹digit›; }; f; echo $?)",
            "f() { trap 'echo leaving $?; trap - RETURN' RETURN; return ‹digit›; }; f; echo $?; unset -f f",
            "(trap 'echo bye' EXIT; exec true); (trap 'echo bye' EXIT; exec nope 2>/dev/null); echo $?",
            "trap -p; trap 'echo ‹digit›' EXIT; trap -p EXIT; trap - EXIT",
            "bash -c 'exit ‹digit›'; echo $?; bash -c 'kill -9 $$'; echo $?",
            "bash -c 'echo $0 $# $1' name ‹words›; bash -s ‹digit› <<<'echo $1'",
            "sh -c 'echo \"$1\"' _ ‹word›; echo 'echo \"f $1\"' >s.sh; bash s.sh ‹word›",
            "timeout_none=1; (ulimit -c 0; ulimit -c); disown -a; wait",
        ])
    }

    /// Longer functions.
    pub(super) fn defined(&mut self) -> String {
        self.filled(&[
            "fact() { local n=$1; ((n < 2)) && { echo 1; return; }; echo $((n * $(fact $((n-1))))); }; fact ‹digit›; unset -f fact",
            "fib() { (($1 < 2)) && echo $1 || echo $(($(fib $(($1-1))) + $(fib $(($1-2))))); }; fib ‹digit›; unset -f fib",
            "down() { echo \"$1 ${#FUNCNAME[@]}\"; (($1 > 0)) && down $(($1-1)); }; down ‹digit›; echo $?; unset -f down",
            "g() { local ‹scalar›=‹word›; local -i n=‹digit›+1; local -a l=(‹words›); h; echo \"g $‹scalar› $n ${#l[@]}\"; }; h() { echo \"h $‹scalar›\"; ‹scalar›=changed; }; g; echo \"$‹scalar›\"; unset -f g h",
            "g() { local ‹name›; ‹name›=‹word›; declare -p ‹name›; unset ‹name›; declare -p ‹name›; }; g; unset -f g",
            "g() { declare -g ‹scalar›=‹word›; local ‹scalar›=inner; echo \"$‹scalar›\"; }; g; echo \"$‹scalar›\"; unset -f g",
            "g() { local -n out=$1; out=(\"${@:2}\"); }; g ‹array› ‹words›; declare -p ‹array›; unset -f g",
            "g() { local -n m=$1; m[k]=‹word›; echo \"${!m[*]}\"; }; declare -A ‹map›; g ‹map›; echo \"${‹map›[k]}\"; unset -f g",
            "g() { local IFS=,; echo \"$*\"; }; g ‹words›; echo \"$*\"; unset -f g",
            "g() { local -; set -f; echo ‹glob›; }; g; echo ‹glob›; unset -f g",
            "g() { [[ $1 ]] || return ‹digit›; shift; g \"$@\"; }; g ‹words› ''; echo $?; unset -f g",
            "g() { echo \"${FUNCNAME[*]} $LINENO\"; }; h() { g; }; h; g | cat; (h); unset -f g h",
            "g() { cat; }; echo ‹word› | g; g <<<‹word›; g < <(echo ‹word›); unset -f g",
            "g() { echo out; echo err >&2; } 2>&1 >/dev/null; g; unset -f g",
            "g() ( ‹scalar›=sub; exit ‹digit› ); g; echo \"$? $‹scalar›\"; unset -f g",
            "g() { ‹command›; }; declare -f g; unset -f g; g; echo $?",
            "g() if ‹test›; then return ‹digit›; else return 1; fi; g; echo $?; declare -f g; unset -f g",
            "g() { for x; do case $x in ‹pattern›) continue;; esac; echo \"$x\"; done; }; g ‹words›; declare -f g; unset -f g",
            "g() { while read -r l; do echo \"<$l>\"; done <<E\n$1\n‹expansion›\nE\n}; g ‹word›; declare -f g; unset -f g",
            "g() { local x=$(false); echo $?; local y; y=$(false); echo $?; }; g; unset -f g",
            "g() { readonly ro=‹digit›; ro=2; echo no; }; (g; echo \"$?\"); (readonly ro=1; unset ro; echo $?); unset -f g",
            "g() { eval 'return ‹digit›'; echo no; }; g; echo $?; unset -f g",
            "g() { return ‹word›; }; (g); echo $?; unset -f g",
            "g() { break; echo in; }; for x in 1 2; do g 2>&1; echo $x; done; unset -f g",
            "export -f g 2>&1; g() { echo \"exported $1\"; }; export -f g; bash -c 'g ‹digit›'; unset -f g",
            "g() { unset -f g; echo once; }; g; g; echo $?",
            "g() { shift; echo \"$# $*\"; set -- new; echo \"$1\"; }; set -- ‹words›; g \"$@\"; echo \"$#\"; unset -f g",
            "g() { local a=1 b=$a c; c=${b:-none}; echo \"$a$b$c\"; }; g; unset -f g",
            "‹scalar›=outer; g() { echo \"$‹scalar›\"; ‹scalar›=in; }; ‹scalar›=‹word› g; echo \"$‹scalar›\"; unset -f g",
        ])
    }
}
