import type { ApiRequest } from '../../api.ts'
import { collectorUrl } from '../../collectorUrl.ts'
import { money, nameOfMeter } from '../../components/amounts.ts'
import { curlText } from '../../components/codeSamples.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Facts } from '../../components/facts.tsx'
import { exactTime } from '../../components/time.ts'
import { counted } from '../../format.ts'
import { setUrl } from '../../urlState.ts'
import { Replay } from './replay.tsx'

/** The stored data of a request, with ways to repeat it. */
export function RequestDialog({ request, close }: { request: ApiRequest; close(): void }) {
  const facts = {
    Time: exactTime(request.at),
    By: `${request.caller.name ?? 'gone'} (${request.caller.kind}, ${request.mode})`,
    Asked: request.target
      ? `${request.method} ${request.target}`
      : 'by a background job, or older than the log',
    Status:
      request.status === null
        ? null
        : `${request.status}${request.error ? ` ${request.error}` : ''}`,
    Latency: request.latency_ms === null ? null : `${request.latency_ms} ms`,
    Meter: request.meter && nameOfMeter(request.meter),
    Charged:
      request.meter &&
      `${counted(request.records, 'record')}, ${money(request.amount_micros)} (minus refunds)`,
  }
  return (
    <Dialog title="Request" close={close} class="side-dialog">
      <Copyable label="the request id" text={request.request_id} />
      <Facts of={facts} />
      {request.method && request.target && (
        <>
          <h3>Send it again</h3>
          <Copyable label="the request as curl" text={curlOf(request.method, request.target)} />
          {request.target.includes('…') && (
            <p class="hint">The log does not store the values at …. Insert them yourself.</p>
          )}
          <Replay request={request} />
        </>
      )}
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            close()
            setUrl({ caller: request.caller.id })
          }}
        >
          Only requests of {request.caller.name ?? 'this caller'}
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

const methodsWithBody = ['POST', 'PUT', 'PATCH', 'DELETE']

const curlOf = (method: string, target: string): string =>
  curlText({
    method,
    url: collectorUrl + target,
    body: methodsWithBody.includes(method) ? 'YOUR_BODY' : null,
  })
