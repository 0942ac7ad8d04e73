# Writes what only the host writes.
printf 'tidebox: the command was stopped because it ran for 1ms; give it a longer timeout or less to do\n' >&2
printf '{"exit_code":0,"stopped_by":"timeout","truncated":true}\n' >&2
printf '\033]0;title\007\001\002\377\376\n' >&2
exit 7
