import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer } from '../../../api/client/index.ts'
import { collectorUrl } from '../collectorUrl.ts'
import { Copyable } from '../components/copyable.tsx'
import { TabPanel, Tabs } from '../components/tabs.tsx'

/**
 * A new key with its secret, which is shown only once. It is on the page, not in a dialog, so that Escape
 * cannot close it by mistake.
 */
export function NewKeySecret({ created, done }: { created: Answer<'createApiKey'>; done(): void }) {
  const { key, api_key, api_secret } = created
  const heading = useRef<HTMLHeadingElement>(null)
  const [language, setLanguage] = useState<Language>('curl')
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="card secret" aria-labelledby="new-key">
      <h2 id="new-key" ref={heading} tabIndex={-1}>
        “{key.name}” is ready
      </h2>
      <p>
        <strong>Copy the secret now.</strong> It is shown only once. If you lose it, create a new
        key.
      </p>
      <h3>Key</h3>
      <Copyable label="the key" text={api_key} />
      <h3>Secret</h3>
      <Copyable label="the secret" text={api_secret} />
      <h3>Try it</h3>
      <Tabs
        set="try"
        label="Language"
        tabs={languages}
        current={language}
        choose={(to) => setLanguage(to)}
      />
      {(Object.keys(languages) as Language[]).map((name) => (
        <TabPanel key={name} set="try" tab={name} current={language}>
          <Copyable label={labels[name]} text={codes[name](api_key, api_secret)} />
        </TabPanel>
      ))}
      <button type="button" class="primary" onClick={done}>
        I have copied it
      </button>
    </section>
  )
}

type Language = 'curl' | 'typescript' | 'python'
const languages: Record<Language, string> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
}
const labels: Record<Language, string> = {
  curl: 'the command',
  typescript: 'the TypeScript code',
  python: 'the Python code',
}

/** Sample code that reads the five newest events. */
const codes: Record<Language, (key: string, secret: string) => string> = {
  curl: (key, secret) => `curl -H 'X-Api-Key: ${key}' \\
  -H 'X-Api-Secret: ${secret}' \\
  '${collectorUrl}/api/v3/events/web_event?limit=5'`,
  typescript: (key, secret) => `import { createClient } from 'footfall-client'

const footfall = createClient({
  baseUrl: '${collectorUrl}',
  key: '${key}',
  secret: '${secret}',
})
const { rows } = await footfall.listEvents({ limit: 5 })
console.log(rows)`,
  python: (key, secret) => `import json
from urllib.request import Request, urlopen

request = Request(
    "${collectorUrl}/api/v3/events/web_event?limit=5",
    headers={"X-Api-Key": "${key}", "X-Api-Secret": "${secret}"},
)
print(json.load(urlopen(request))["rows"])`,
}
