cat /proc/self/status 2>/dev/null; ls /proc; cat /proc/uptime /proc/meminfo /proc/loadavg /proc/stat /proc/version 2>&1
