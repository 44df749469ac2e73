import { useEffect, useRef } from 'preact/hooks'
import type { Answer } from '../../../../client/index.ts'
import { Copyable } from '../parts/copyable.tsx'

/**
 * A key just made, with its secret, which is shown this once. On the page, not in a dialog: no stray Escape may
 * take it away.
 */
export function NewKeySecret({ created, done }: { created: Answer<'createApiKey'>; done(): void }) {
  const { key, api_key, api_secret } = created
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="card secret" aria-labelledby="new-key">
      <h2 id="new-key" ref={heading} tabIndex={-1}>
        “{key.name}” is ready
      </h2>
      <p>
        <strong>Copy the secret now.</strong> It is shown this once; a lost one means a new key.
      </p>
      <h3>Key</h3>
      <Copyable label="the key" text={api_key} />
      <h3>Secret</h3>
      <Copyable label="the secret" text={api_secret} />
      <h3>Try it</h3>
      <Copyable label="the command" text={curl(api_key, api_secret)} />
      <button type="button" class="primary" onClick={done}>
        I have copied it
      </button>
    </section>
  )
}

/** How browsers and programs reach the collector; the service puts it into the page. */
const collectorUrl = document.querySelector<HTMLMetaElement>('meta[name=collector-url]')!.content

const curl = (key: string, secret: string): string =>
  `curl -H 'X-Api-Key: ${key}' \\
  -H 'X-Api-Secret: ${secret}' \\
  '${collectorUrl}/api/v3/events/web_event?limit=5'`
