f() { trap 'echo ret' RETURN; echo body; }; f; echo after; g() { echo g; }; g; set -T; trap 'echo any' RETURN; g; set +T; trap - RETURN; g
