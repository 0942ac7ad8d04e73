env | sort; env; export -p | head; set | head -5; locale 2>&1; hostname; id; uname -a
