trap 'echo exit' EXIT; trap 'echo int' INT; trap 'echo usr1' USR1
kill -USR1 $$; (kill -INT $$); sleep 0.1; echo end
