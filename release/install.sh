#!/bin/sh
# Installs the command tidebox from a release archive.
#
#   curl -fsSL BASE/install.sh | TIDEBOX_BASE=BASE sh
#
# TIDEBOX_BASE     address of the directory with the files of the release; a directory of this machine works too
# TIDEBOX_VERSION  version to install [default: the one that SHA256SUMS lists]
# TIDEBOX_DIR      directory of the installation [default: ~/.local/share/tidebox]
# TIDEBOX_BIN      directory of the link to the command [default: ~/.local/bin]
set -eu

main() {
  base=${TIDEBOX_BASE:-}
  dir=${TIDEBOX_DIR:-$HOME/.local/share/tidebox}
  bin=${TIDEBOX_BIN:-$HOME/.local/bin}
  [ -n "$base" ] || fail "TIDEBOX_BASE is not set: set it to the address of the release files"
  target=$(find_target)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  fetch SHA256SUMS
  name=$(sed -n "s/^[0-9a-f]*  \(tidebox-${TIDEBOX_VERSION:-[0-9][^ ]*}-$target\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS" | head -n 1)
  [ -n "$name" ] || fail "the release has no archive for $target; install Rust and run: cargo install tidebox"
  fetch "$name"
  grep "  $name\$" "$work/SHA256SUMS" >"$work/expected"
  (cd "$work" && check expected) || fail "the checksum of $name is wrong: the download is damaged or was changed"
  tar -xzf "$work/$name" -C "$work"
  mkdir -p "$(dirname "$dir")" "$bin"
  # The old installation is replaced only when the new one is complete.
  rm -rf "$dir.new" "$dir.old"
  mv "$work/${name%.tar.gz}" "$dir.new"
  if [ -e "$dir" ]; then mv "$dir" "$dir.old"; fi
  mv "$dir.new" "$dir"
  rm -rf "$dir.old"
  ln -sf "$dir/tidebox" "$bin/tidebox"
  echo "installed $("$bin/tidebox" --version) in $dir"
  case ":$PATH:" in
    *":$bin:"*) ;;
    *) echo "add $bin to PATH to start it as tidebox" ;;
  esac
}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# Prints the name of the platform in the release.
find_target() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) echo x86_64-unknown-linux-gnu ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-gnu ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    *) fail "$(uname -s) on $(uname -m) has no archive; install Rust and run: cargo install tidebox" ;;
  esac
}

fetch() {
  case "$base" in
    http://* | https://*)
      if command -v curl >/dev/null; then
        curl -fsSL -o "$work/$1" "$base/$1" || fail "cannot download $base/$1"
      elif command -v wget >/dev/null; then
        wget -qO "$work/$1" "$base/$1" || fail "cannot download $base/$1"
      else
        fail "neither curl nor wget is installed"
      fi
      ;;
    *) cp "$base/$1" "$work/$1" || fail "cannot read $base/$1" ;;
  esac
}

check() {
  if command -v sha256sum >/dev/null; then
    sha256sum -c "$1" >/dev/null
  else
    shasum -a 256 -c "$1" >/dev/null
  fi
}

# A function, so that a download that breaks off runs nothing.
main
