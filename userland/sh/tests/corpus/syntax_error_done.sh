echo a
done
echo b
