if true; then echo x; done
