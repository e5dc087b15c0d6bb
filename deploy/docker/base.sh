#!/usr/bin/env bash
# base.sh IMAGE: a Debian base image with Python, made from Debian packages alone, without an
# image registry. Needs root, mmdebstrap and docker; takes the apt sources of this machine.
set -euo pipefail
image=$1 suite=bookworm sources=()
for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
  [ -s "$file" ] && grep -q "$suite" "$file" && { sources=("$file"); break; }
done
passwd='root:x:0:0:root:/root:/bin/sh\norganism:x:65532:65532::/tmp:/usr/sbin/nologin\n'
group='root:x:0:\norganism:x:65532:\n'
# Of the extract variant only extract hooks run, and nothing is configured.
mmdebstrap --mode=root --variant=extract --quiet \
  --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
  --aptopt='APT::Install-Recommends "false"' \
  --include=base-files,libc-bin,dash,coreutils,python3,libseccomp2 \
  --extract-hook='ldconfig -r "$1"' \
  --extract-hook="printf '$passwd' > \"\$1/etc/passwd\"; printf '$group' > \"\$1/etc/group\"" \
  --extract-hook='mkdir -p "$1/tmp"; chmod 1777 "$1/tmp"; rm -rf "$1"/usr/share/{man,info,locale,doc,lintian}' \
  "$suite" - "${sources[@]}" \
  | docker import --change 'ENV PATH=/usr/bin:/bin' --change 'CMD ["python3"]' - "$image" >/dev/null
