# A file that reads itself.
echo '. ./self' > self; . ./self
