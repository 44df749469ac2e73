import { api } from '../../api.ts'
import { money, records } from '../../components/amounts.ts'
import { JsonTree, parsedJson } from '../../components/jsonTree.tsx'
import { counted } from '../../format.ts'

/** The response to a request from this page. */
export interface Answered {
  status: number
  latencyMs: number
  charged: number
  /** The price of the charged records in micros; null if it could not be read. */
  amountMicros: number | null
  text: string
}

/** The most characters of a response to show. */
const charactersMax = 20_000

/**
 * Requests a path of the API with the user's session. `projectId` limits the response, unless the path names
 * a project.
 */
export async function askAgain(
  path: string,
  { organization_id }: { organization_id: string },
  projectId: string | null = null,
): Promise<Answered> {
  const startedAt = performance.now()
  const answer = await fetch(path, {
    headers: {
      'x-organization-id': organization_id,
      ...(projectId && { 'x-project-id': projectId }),
    },
  })
  const text = await answer.text()
  const latencyMs = Math.round(performance.now() - startedAt)
  const charged = Number(answer.headers.get('x-footfall-charged') ?? 0)
  const requestId = answer.headers.get('x-footfall-request-id')
  return {
    status: answer.status,
    text,
    latencyMs,
    charged,
    amountMicros: charged > 0 && requestId !== null ? await amountOf(requestId) : null,
  }
}

/** Reads what a request cost, from the ledger. The response is there without it. */
const amountOf = (request_id: string): Promise<number | null> =>
  api.listRequests({ request_id, charged: true }).then(
    ({ requests: [request] }) => request?.amount_micros ?? null,
    () => null,
  )

/** Shows the status and body of a response. */
export function AnswerShown({
  answered: { status, latencyMs, charged, amountMicros, text },
}: {
  answered: Answered
}) {
  return (
    <div class="answer">
      <p role="status">
        <span class={`badge ${status < 400 ? '' : 'bad'}`}>{status}</span> in {records(latencyMs)}{' '}
        ms, {counted(charged, 'record')} charged
        {amountMicros !== null && `: ${money(amountMicros)}`}.
      </p>
      {text.length > charactersMax ? (
        <pre>
          <code>{text.slice(0, charactersMax)}…</code>
        </pre>
      ) : (
        <JsonTree value={parsedJson(text)} />
      )}
    </div>
  )
}
