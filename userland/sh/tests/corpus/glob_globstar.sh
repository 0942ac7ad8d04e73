mkdir -p r/s/t; touch r/1.c r/s/2.c r/s/t/3.c
shopt -s globstar; echo r/**/*.c; echo r/**; echo **/; echo **/*.c
shopt -u globstar; echo r/**/*.c
