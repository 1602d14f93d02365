#!/usr/bin/env bash
# A browser for the tests of the report: Debian's chromium, where apt can install it. Without one those tests are skipped.
set -euo pipefail
command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "browser: no chromium and chromedriver here, and no way to install them: tests in a browser are skipped"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends chromium chromium-driver fonts-dejavu-core >/dev/null; }
install || { apt-get update -qq && install; } || echo "browser: apt-get can't install chromium: tests in a browser are skipped"
