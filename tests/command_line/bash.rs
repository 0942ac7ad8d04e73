//! Command lines whose output and exit code must equal those of bash and GNU tools.

use crate::run::{bash, exec};

#[track_caller]
fn same_as_bash(line: &str) {
    let (ours, real) = (exec(line), bash(line));
    assert_eq!(ours.stdout(), real.stdout(), "stdout of {line:?}; our stderr: {}", ours.stderr());
    assert_eq!(ours.code, real.code, "exit code of {line:?}; our stderr: {}", ours.stderr());
    assert_eq!(ours.stderr.is_empty(), real.stderr.is_empty(), "stderr of {line:?}: {}", ours.stderr());
}

/// One test per command line.
macro_rules! same_as_bash {
    ($($name:ident: $line:expr;)*) => {$(
        #[test]
        fn $name() {
            same_as_bash($line);
        }
    )*};
}

same_as_bash! {
    a_pipeline_with_tee_writes_the_file_and_the_count:
        r#"printf "b\na\nc\n" | sort | tee sorted.txt | wc -l; cat sorted.txt"#;
    a_loop_feeds_a_pipeline_of_filters:
        r#"for i in $(seq 1 5); do echo "$((i*i))"; done | grep -v 4 | sed "s/^/n=/" | sort -r"#;
    yes_ends_when_head_exits: "yes | head -3";
    the_status_of_a_pipeline_is_that_of_its_last_command: "false | true; echo $?; true | false; echo $?";
    pipefail_reports_the_command_that_failed: "set -o pipefail; false | true; echo $?";
    a_failing_command_ends_a_script_under_errexit: "set -euo pipefail; echo before; false; echo after";
    an_unset_variable_ends_a_script_under_nounset: "set -u; echo before; echo $nothing; echo after";
    the_exit_trap_runs_and_keeps_the_status: "trap 'echo bye' EXIT; echo hi; exit 7";
    a_here_document_expands_variables: "name=world\ncat <<END\nhello $name $((1+2))\nEND";
    a_quoted_here_document_expands_nothing: "cat <<'END'\nhello $name `date`\nEND";
    redirections_go_where_they_say: "{ echo out; echo err >&2; } >all 2>&1; cat all; echo more >>all; wc -l <all";
    stderr_can_be_piped: "{ echo err >&2; } 2>&1 | sed s/err/caught/";
    arrays_keep_their_elements: r#"a=(one "two three" four); for w in "${a[@]}"; do echo "[$w]"; done; echo ${#a[@]}"#;
    functions_have_arguments_and_locals: r#"f() { local x=$1; echo "$x-$#"; return 3; }; f a b; echo $? ${x:-unset}"#;
    parameter_expansions_cut_and_replace: r#"p=/a/b/c.tar.gz; echo ${p##*/} ${p%.*} ${p%%.*} ${p/b/B} ${#p} ${p:3:4}"#;
    case_selects_by_pattern: r#"for f in a.txt b.py c; do case $f in *.txt) echo text;; *.py) echo py;; *) echo other;; esac; done"#;
    double_brackets_match_patterns_and_regular_expressions:
        r#"x=abc123; [[ $x == abc* && $x =~ ([a-z]+)([0-9]+) ]] && echo "${BASH_REMATCH[1]}-${BASH_REMATCH[2]}""#;
    while_read_takes_a_line_at_a_time: r#"printf '1 a\n2 b\n' | while read -r n w; do echo "$w=$n"; done"#;
    background_jobs_are_waited_for: "(sleep 0.1; echo late) & echo early; wait; echo done";
    a_subshell_changes_nothing_outside: "x=1; cd /tmp; (x=2; cd /; pwd); echo $x; pwd";
    command_substitutions_nest: r#"echo "$(echo "in $(echo inner) out" | tr a-z A-Z)""#;
    globs_are_sorted_and_stay_when_nothing_matches: "touch b a c.txt; echo *; echo *.none";
    braces_expand: "echo {1..5} {a,b}{x,y}";
    find_and_xargs_work_together: "mkdir -p d/e; touch d/1.txt d/e/2.txt d/3.md; find d -name '*.txt' | sort | xargs -n1 basename";
    sort_and_uniq_count: "printf 'b\\na\\nb\\n' | sort | uniq -c | sort -rn | sed 's/^ *//'";
    cut_and_paste_take_fields: "printf 'a,1\\nb,2\\n' >t.csv; cut -d, -f2 t.csv | paste -sd+ ";
    grep_counts_and_numbers_lines: "printf 'one\\ntwo\\nthree\\n' >f; grep -c e f; grep -n t f; grep -q zzz f; echo $?";
    sed_edits_in_place: "echo 'a b' >f; sed -i 's/a/x/; s/b/y/' f; cat f";
    an_unknown_command_is_127: "no_such_command_here; echo $?";
    a_directory_is_not_a_command: "mkdir d; ./d; echo $?";
    a_file_without_execute_bit_is_126: "echo 'echo hi' >s; ./s; echo $?";
    a_script_with_an_interpreter_runs: "printf '#!/bin/sh\\necho \"script $1\"\\n' >s; chmod +x s; ./s arg";
    a_syntax_error_is_reported: "for in do; done";
    the_exit_code_is_the_commands: "exit 42";
    a_signal_death_is_128_and_its_number: "sh -c 'kill -TERM $$'; echo $?";
    files_of_one_command_line_are_seen_by_the_next: "echo 1 >a; mv a b; cp b c; rm b; cat c; ls";
    a_megabyte_goes_through_a_pipe: "seq 1 150000 | wc -c; seq 1 150000 | tail -1";
}
