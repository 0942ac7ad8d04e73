touch a b c; rm b; touch d; mkdir e; ln a f; ln -s a g; ls -lai
