for i in $(seq 1 30); do f=$(mktemp -p . t.XXXX); echo $i > $f; done; ls; cat t.*
