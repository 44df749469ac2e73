import { useState } from 'preact/hooks'
import { type OperationId, requestFor } from '../../../api/client/index.ts'
import { collectorUrl } from '../collectorUrl.ts'
import { Copyable } from './copyable.tsx'
import { TabPanel, Tabs } from './tabs.tsx'

/** A call of the API; `params` contains its path, query and body parameters. */
export interface Call {
  operation: OperationId
  params: Record<string, unknown>
}

const languages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const
type Language = keyof typeof languages

/** Shows the same call in each language, with copy buttons. `set` distinguishes several on one page. */
export function CodeSamples({ set, call }: { set: string; call: Call }) {
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <div class="code-samples">
      <Tabs
        set={set}
        label="Language"
        tabs={languages}
        current={language}
        choose={(name) => setLanguage(name)}
      />
      {(Object.keys(languages) as Language[]).map((name) => (
        <TabPanel key={name} set={set} tab={name} current={language}>
          <Copyable
            label={`the call in ${languages[name]}`}
            text={writers[name](requestOf(call), call)}
          />
        </TabPanel>
      ))}
    </div>
  )
}

/** Returns the URL of a call and its body, if any. */
function requestOf({ operation, params }: Call) {
  const { method, path, body } = requestFor(operation, params)
  return {
    method,
    url: collectorUrl + path,
    body: body === undefined ? null : JSON.stringify(body),
  }
}
type Request = ReturnType<typeof requestOf>

/** Returns a request as a command with placeholders for the key. */
export const curlText = ({ method, url, body }: Request): string =>
  [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellText(url)}`,
    "-H 'X-Api-Key: YOUR_API_KEY'",
    "-H 'X-Api-Secret: YOUR_API_SECRET'",
    ...(body ? ["-H 'Content-Type: application/json'", `-d ${shellText(body)}`] : []),
  ].join(' \\\n  ')

const writers: Record<Language, (request: Request, call: Call) => string> = {
  curl: curlText,
  typescript: (_, { operation, params }) =>
    `import { createClient } from 'footfall-client'

const footfall = createClient({
  baseUrl: '${collectorUrl}',
  key: process.env.FOOTFALL_KEY,
  secret: process.env.FOOTFALL_SECRET,
})
const answer = await footfall.${operation}(${JSON.stringify(params, null, 2)})
console.log(answer)`,
  python: ({ method, url, body }) =>
    `import json, os, urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    method=${JSON.stringify(method)},
    headers={
        "X-Api-Key": os.environ["FOOTFALL_KEY"],
        "X-Api-Secret": os.environ["FOOTFALL_SECRET"],${body ? '\n        "Content-Type": "application/json",' : ''}
    },${body ? `\n    data=${JSON.stringify(body)}.encode(),` : ''}
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))`,
}

/** Quotes a text for shells. */
const shellText = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
