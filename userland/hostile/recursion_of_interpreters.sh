# A script that is its own interpreter.
printf '#!/workspace/self\n' > self; chmod +x self; ./self
