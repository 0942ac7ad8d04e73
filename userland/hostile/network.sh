# Tries to connect to other hosts and to the host itself.
for u in http://169.254.169.254/latest http://localhost:22/ https://example.com/ http://[::1]/ file:///etc/passwd; do curl -s "$u" > /dev/null; echo $?; done; exec 5<> /dev/tcp/127.0.0.1/22
