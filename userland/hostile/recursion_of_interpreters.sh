# A script whose interpreter is itself.
printf '#!/workspace/self\n' > self; chmod +x self; ./self
