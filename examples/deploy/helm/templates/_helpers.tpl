{{- define "footfall.labels" -}}
app.kubernetes.io/name: footfall
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "footfall.pod" -}}
# Draining, and shipping what is on its way.
terminationGracePeriodSeconds: 90
automountServiceAccountToken: false
securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
{{- end }}

{{- define "footfall.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "footfall.env" -}}
{{- range $name, $value := .Values.env }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
