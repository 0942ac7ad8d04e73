trap 'echo exiting $?' EXIT; (trap 'echo sub exit' EXIT; echo in sub); (echo no trap here); echo $(trap 'echo t' EXIT; echo s); trap; f() { exit 4; }; f; echo no
