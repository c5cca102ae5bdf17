#!/bin/sh
# Make sure that the browser tests have a browser: use the one that is there, or install Debian's as root.
set -u
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
    echo "Installing chromium for the browser tests ..."
    $sudo apt-get update -qq >/dev/null 2>&1
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null 2>&1 && exit 0
fi
echo "**********************************************************************************" >&2
echo "** NO BROWSER: the tests in tests/e2e will be SKIPPED. Install chromium to run them." >&2
echo "**********************************************************************************" >&2
exit 0
