#!/usr/bin/env bash
# Builds what the tests need of Kubernetes, from the Go module proxy: an API server and kubectl, an etcd for it, and the
# CRDs of Envoy Gateway, Istio and the Prometheus operator. Takes some minutes and 2 GB of memory, once.
# usage: build-kubernetes.sh FOLDER
set -euo pipefail
OUT=$(mkdir -p "$1" && cd "$1" && pwd)
MINOR=36.3
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

module() { go mod download -json "$1" | node -p 'JSON.parse(require("fs").readFileSync(0)).Dir'; }

if [ ! -x "$OUT/kube-apiserver" ] || [ ! -x "$OUT/kubectl" ]; then
  cp -r --no-preserve=mode "$(module "k8s.io/kubernetes@v1.$MINOR")" "$WORK/src"
  cd "$WORK/src"
  # The module lacks the folder staging/, whose parts are published as modules of their own.
  rm -rf go.work go.work.sum vendor
  sed -i -E "s#(k8s.io/[a-z-]+) => ./staging/src/.*#\1 => \1 v0.$MINOR#" go.mod
  export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
  version="-X k8s.io/component-base/version.gitVersion=v1.$MINOR -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${MINOR%%.*}"
  for program in kube-apiserver kubectl; do
    go build -trimpath -ldflags "-s -w $version" -o "$WORK/$program" "./cmd/$program"
  done
  mv "$WORK/kube-apiserver" "$WORK/kubectl" "$OUT/"
  cd "$OUT"
fi

mkdir -p "$OUT/crds"
gateway=$(module github.com/envoyproxy/gateway@v1.9.1)/charts/gateway-helm/charts/crds/crds
istio=$(module istio.io/api@v1.31.1)/kubernetes
prometheus=$(module github.com/prometheus-operator/prometheus-operator@v0.85.0)/example/prometheus-operator-crd
install -m644 "$gateway/gatewayapi-crds.yaml" "$gateway"/generated/*.yaml "$OUT/crds/"
install -m644 "$istio/customresourcedefinitions.gen.yaml" "$OUT/crds/istio.yaml"
install -m644 "$prometheus"/*servicemonitors.yaml "$prometheus"/*prometheusrules.yaml "$OUT/crds/"

if ! command -v etcd > /dev/null && [ ! -x "$OUT/etcd" ]; then
  # Debian's package, taken apart: installed, its service would start with the machine.
  cd "$WORK"
  apt-get download -qq etcd-server
  dpkg -x etcd-server_*.deb etcd
  install -m755 etcd/usr/bin/etcd "$OUT/etcd"
fi
