{{- define "igw.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "igw.selector" -}}
app.kubernetes.io/name: inference-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "igw.labels" -}}
{{ include "igw.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "igw.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- /* gateway.yaml: what the chart decides, laid over what the values say. */ -}}
{{- define "igw.gatewayYaml" -}}
{{- $kinds := 0 -}}
{{- range list .Values.redis.url .Values.redis.sentinels .Values.redis.cluster -}}
{{- if . -}}{{- $kinds = add1 $kinds -}}{{- end -}}
{{- end -}}
{{- if ne (int $kinds) 1 -}}{{- fail "redis: set exactly one of url, sentinels and cluster" -}}{{- end -}}
{{- if and .Values.redis.sentinels (not .Values.redis.name) -}}{{- fail "redis.name: required with redis.sentinels" -}}{{- end -}}
{{- $redis := dict -}}
{{- range $field := list "url" "sentinels" "name" "cluster" "username" -}}
{{- $value := index $.Values.redis $field -}}
{{- if $value -}}{{- $_ := set $redis $field $value -}}{{- end -}}
{{- end -}}
{{- if .Values.redis.passwordSecret.name -}}{{- $_ := set $redis "password" (dict "file" "/etc/gateway-secrets/redis/password") -}}{{- end -}}
{{- if .Values.redis.caSecret.name -}}{{- $_ := set $redis "ca_file" "/etc/gateway-secrets/redis-ca/ca.crt" -}}{{- end -}}
{{- $listen := dict "host" "0.0.0.0" "port" 10000 -}}
{{- if .Values.tls.secret -}}
{{- $tls := dict "cert_file" "/etc/envoy-tls/server/tls.crt" "key_file" "/etc/envoy-tls/server/tls.key" -}}
{{- if .Values.tls.clientCaSecret -}}{{- $_ := set $tls "client_ca_file" "/etc/envoy-tls/clients/ca.crt" -}}{{- end -}}
{{- $_ := set $listen "tls" $tls -}}
{{- end -}}
{{- $sidecar := dict "workers" (int .Values.workers) "sockets" "/run/inference-gateway" -}}
{{- if not .Values.envoy.enabled -}}
{{- if not .Values.sidecar.tlsSecret -}}{{- fail "sidecar.tlsSecret: required with envoy.enabled=false, the connection carries keys and prompts" -}}{{- end -}}
{{- if not .Values.sidecar.clientName -}}{{- fail "sidecar.clientName: required with envoy.enabled=false, or any certificate of the same authorities could call" -}}{{- end -}}
{{- $_ := set $sidecar "tcp" (dict "host" "0.0.0.0" "port" (int .Values.sidecar.port)) -}}
{{- $_ := set $sidecar "tls" (dict
  "ca_file" "/etc/sidecar-tls/ca.crt"
  "server_cert_file" "/etc/sidecar-tls/tls.crt"
  "server_key_file" "/etc/sidecar-tls/tls.key"
  "server_name" (printf "%s-sidecar.%s.svc" (include "igw.name" .) .Release.Namespace)
  "client_cert_file" (printf "%s/tls.crt" .Values.sidecar.envoyTlsPath)
  "client_key_file" (printf "%s/tls.key" .Values.sidecar.envoyTlsPath)
  "client_name" .Values.sidecar.clientName) -}}
{{- end -}}
{{- $own := dict
  "listen" $listen
  "admin" (dict "host" "0.0.0.0" "port" 10001 "health_port" 10002 "allow_plain_http" true "operator_token" (dict "file" "/etc/gateway-secrets/operator/token"))
  "sidecar" $sidecar
  "data_dir" "/var/lib/inference-gateway"
  "redis" $redis
  "upstreams" .Values.gateway.upstreams
  "catalog" .Values.gateway.catalog -}}
{{- if .Values.gateway.publicBaseUrl -}}{{- $_ := set $own "public_base_url" .Values.gateway.publicBaseUrl -}}{{- end -}}
{{- if .Values.gateway.documentationUrl -}}{{- $_ := set $own "documentation_url" .Values.gateway.documentationUrl -}}{{- end -}}
{{- $dashboard := dict -}}
{{- if .Values.gateway.dashboard.baseUrl -}}{{- $_ := set $dashboard "base_url" .Values.gateway.dashboard.baseUrl -}}{{- end -}}
{{- if .Values.gateway.dashboard.contact -}}{{- $_ := set $dashboard "contact" .Values.gateway.dashboard.contact -}}{{- end -}}
{{- if $dashboard -}}{{- $_ := set $own "dashboard" $dashboard -}}{{- end -}}
{{- /* Half of the volume: the rest is the spool's. */ -}}
{{- $defaults := dict "retention" (dict "request_log_max_bytes" 1073741824) -}}
{{- mergeOverwrite $defaults (deepCopy .Values.gateway.extra) $own | toYaml -}}
{{- end }}

{{- define "igw.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* Environment variables for one of the two: (list $ "envoy"). */ -}}
{{- define "igw.env" -}}
{{- $for := index . 1 -}}
{{- range (index . 0).Values.secretEnv }}
{{- if eq .for $for }}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .secret | quote }}, key: {{ .key | quote }}}}
{{- end }}
{{- end }}
{{- end }}

{{- /* Mounts of one of the two: (list $ "envoy"). */ -}}
{{- define "igw.secretMounts" -}}
{{- $for := index . 1 -}}
{{- range $index, $file := (index . 0).Values.secretFiles }}
{{- if or (not $file.for) (eq $file.for $for) }}
- {name: secret-{{ $index }}, mountPath: {{ $file.path | quote }}, readOnly: true}
{{- end }}
{{- end }}
{{- end }}

{{- /* "true" when an upstream's credential is a file, which can be renewed. */ -}}
{{- define "igw.hasCredentialFiles" -}}
{{- range .Values.gateway.upstreams }}{{ if and .credential (hasKey .credential "file") }}true{{ end }}{{ range .credentials }}{{ if hasKey . "file" }}true{{ end }}{{ end }}{{ end -}}
{{- end }}
