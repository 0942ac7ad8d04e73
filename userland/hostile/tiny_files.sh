# Files without content.
i=0; while : > "f$i"; do i=$((i + 1)); done; echo $i
