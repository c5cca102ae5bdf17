#!/bin/sh
# Make sure that the deployment tests have nginx: use the one that is there, or install Debian's as root.
set -u
PATH="$PATH:/usr/sbin"
command -v nginx >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
    echo "Installing nginx for the deployment tests ..."
    $sudo apt-get update -qq >/dev/null 2>&1
    # Only the program is wanted: keep the package from starting a server on port 80, now and at the next boot.
    service() { if [ -d /run/systemd/system ]; then $sudo systemctl --quiet "$1" nginx.service >/dev/null 2>&1; fi; }
    service mask
    $sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq nginx-light >/dev/null 2>&1
    installed=$?
    service unmask
    service disable
    [ "$installed" = 0 ] && exit 0
fi
echo "**********************************************************************************" >&2
echo "** NO NGINX: most tests in tests/deploy will be SKIPPED. Install nginx to run them." >&2
echo "**********************************************************************************" >&2
exit 0
