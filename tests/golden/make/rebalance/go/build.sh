#!/usr/bin/env bash
# build.sh WORK: the consumer of the Go client, WORK/go/goconsumer (Go 1.21 or newer; modules from the Go module proxy).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) client=github.com/apache/rocketmq-client-go/v2 version=v2.1.2
mkdir -p "$1/go"
cd "$1/go"
cp "$here/main.go" .
printf 'module goconsumer\ngo 1.21\nrequire %s %s\n' "$client" "$version" > go.mod
go mod download "$client@$version"
rm -rf client && cp -r "$(go env GOMODCACHE)/$client@$version" client && chmod -R u+w client
cp "$here/lab_table.go" client/consumer/
echo "replace $client => ./client" >> go.mod
go mod tidy
go build -o goconsumer .
