#!/usr/bin/env bash
# build.sh [BASE_IMAGE]: the organism's image under the tag of its recipe; prints the tag.
# Without BASE_IMAGE the base is made from Debian packages (root, mmdebstrap), once a recipe.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
recipe=$(cat "$here/Dockerfile" "$here/base.sh" | sha256sum | cut -c1-16)
image=kadath-organism:$recipe
if ! docker image inspect "$image" >/dev/null 2>&1; then
  base=${1:-}
  if [ -z "$base" ]; then
    base=kadath-base:$recipe
    command -v mmdebstrap >/dev/null || { echo "build.sh: apt-get install mmdebstrap, or name a base image" >&2; exit 1; }
    docker image inspect "$base" >/dev/null 2>&1 || "$here/base.sh" "$base"
  fi
  docker build --quiet --network none --label app=kadath \
    --build-arg BASE_IMAGE="$base" --tag "$image" - <"$here/Dockerfile" >/dev/null
fi
echo "$image"
