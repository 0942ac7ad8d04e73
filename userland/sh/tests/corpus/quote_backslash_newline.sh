echo one \
two
echo "one \
two"
echo 'one \
two'
