f() { return 300; }; f; echo $?; g() { false; }; g; echo $?; h() { true; return; }; h; echo $?; (exit 5); echo $?; i() { while :; do return 7; done; }; i; echo $?
j() { echo a; return; echo b; }; j; k() { (return 4); echo $?; }; k
