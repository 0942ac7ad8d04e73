# A script that sources itself.
echo '. ./self' > self; . ./self
