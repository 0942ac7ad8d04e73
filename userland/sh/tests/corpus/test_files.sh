touch f; echo x > nz; mkdir d; ln -s f l; ln -s nowhere dl; chmod +x nz; t() { "$@" && echo yes || echo no; }
t [ -e f ]; t [ -f f ]; t [ -d d ]; t [ -f d ]; t [ -L l ]; t [ -h dl ]; t [ -e dl ]; t [ -s f ]; t [ -s nz ]; t [ -x nz ]; t [ -x f ]; t [ -r f ]; t [ -w f ]; t [ -e nope ]
t [ f -ef l ]; t [ f -ef nz ]; touch -d '2020-01-01' old; t [ f -nt old ]; t [ old -ot f ]; t [ f -ot old ]; t [ f -nt nope ]; t [ -t 0 ]; t [ -p /dev/stdin ] < /dev/null; echo | [ -p /dev/stdin ] && echo pipe
t [ -v t ]; v=1; t [ -v v ]; t [ -o errexit ]; [[ -e f && -d d ]] && echo both; [[ -f f || -f nope ]] && echo one; t [ -c /dev/null ]; t [ -O f ]
