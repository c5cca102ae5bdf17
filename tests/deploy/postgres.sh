#!/bin/sh
# Make sure that the tests of shared ledgers have PostgreSQL: use the one that is there, or install Debian's as root.
set -u
for folder in /usr/lib/postgresql/*/bin $(echo "$PATH" | tr : ' '); do
    [ -x "$folder/initdb" ] && exit 0
done
if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
    echo "Installing PostgreSQL for the tests of shared ledgers ..."
    $sudo apt-get update -qq >/dev/null 2>&1
    # Only the programs are wanted: no cluster is made and no server started, now or at the next boot.
    $sudo mkdir -p /etc/postgresql-common 2>/dev/null
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" | $sudo tee /etc/postgresql-common/createcluster.conf >/dev/null 2>&1
    $sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq postgresql >/dev/null 2>&1 && exit 0
fi
echo "*********************************************************************************************" >&2
echo "** NO POSTGRESQL: ledgers shared by several hosts will NOT be tested. Install it to run them." >&2
echo "*********************************************************************************************" >&2
exit 0
