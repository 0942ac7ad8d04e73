"""Virtual environments: a directory with an interpreter that prefers the packages installed in it.

The packages of the pack stay visible, because most of them have compiled parts that cannot be installed again.
"""

import argparse
import os
import sys

__all__ = ["EnvBuilder", "create", "main"]

PACKAGES = "lib/python3.15/site-packages"
COMMANDS = "python", "python3", "python3.15", "pip", "pip3"

ACTIVATE = """\
# Activate with `source bin/activate`; deactivate with `deactivate`.
deactivate () {{
    if [ -n "${{_OLD_VIRTUAL_PATH:-}}" ]; then PATH="$_OLD_VIRTUAL_PATH"; export PATH; unset _OLD_VIRTUAL_PATH; fi
    if [ -n "${{_OLD_VIRTUAL_PS1:-}}" ]; then PS1="$_OLD_VIRTUAL_PS1"; export PS1; unset _OLD_VIRTUAL_PS1; fi
    hash -r 2> /dev/null
    unset VIRTUAL_ENV VIRTUAL_ENV_PROMPT
    if [ "${{1:-}}" != nondestructive ]; then unset -f deactivate; fi
}}
deactivate nondestructive
VIRTUAL_ENV={path}
VIRTUAL_ENV_PROMPT={prompt}
export VIRTUAL_ENV VIRTUAL_ENV_PROMPT
_OLD_VIRTUAL_PATH="$PATH"
PATH="$VIRTUAL_ENV/bin:$PATH"
export PATH
if [ -z "${{VIRTUAL_ENV_DISABLE_PROMPT:-}}" ] && [ -n "${{PS1:-}}" ]; then
    _OLD_VIRTUAL_PS1="$PS1"
    PS1="("{prompt}") $PS1"
    export PS1
fi
hash -r 2> /dev/null
"""


class EnvBuilder:
    """Creates virtual environments."""

    def __init__(self, system_site_packages=True, clear=False, symlinks=True, upgrade=False, with_pip=False, prompt=None,
                 upgrade_deps=False, *, scm_ignore_files=frozenset()):
        self.clear, self.prompt = clear, prompt

    def create(self, env_dir):
        import shlex
        import shutil

        path = os.path.abspath(os.fspath(env_dir))
        if ":" in path:
            raise ValueError(f"Refusing to create a venv in {path} because it contains the PATH separator :.")
        if self.clear and os.path.isdir(path):
            shutil.rmtree(path)
        for directory in "bin", "include", PACKAGES:
            os.makedirs(os.path.join(path, directory), exist_ok=True)
        for name in COMMANDS:
            link = os.path.join(path, "bin", name)
            if not os.path.lexists(link):
                os.symlink("/usr/bin/" + name, link)
        with open(os.path.join(path, "pyvenv.cfg"), "w", encoding="utf-8") as settings:
            settings.write(f"home = /usr/bin\ninclude-system-site-packages = true\nversion = {sys.version.split()[0]}\n")
        with open(os.path.join(path, "bin/activate"), "w", encoding="utf-8") as script:
            prompt = self.prompt or os.path.basename(path)
            script.write(ACTIVATE.format(path=shlex.quote(path), prompt=shlex.quote(prompt)))


def create(env_dir, system_site_packages=True, clear=False, symlinks=True, with_pip=False, prompt=None, upgrade_deps=False):
    EnvBuilder(clear=clear, prompt=prompt).create(env_dir)


def main(args=None):
    parser = argparse.ArgumentParser(prog="venv", description="Creates virtual Python environments in one or more directories.")
    parser.add_argument("dirs", metavar="ENV_DIR", nargs="+", help="a directory to create the environment in")
    parser.add_argument("--clear", action="store_true", help="delete the directory first, if it exists")
    parser.add_argument("--prompt", help="prompt prefix while the environment is active")
    for name in "--system-site-packages", "--symlinks", "--without-pip", "--upgrade-deps", "--upgrade":
        parser.add_argument(name, action="store_true", help="accepted for compatibility; no effect")
    options = parser.parse_args(args)
    for directory in options.dirs:
        EnvBuilder(clear=options.clear, prompt=options.prompt).create(directory)


if __name__ == "__main__":
    main()
