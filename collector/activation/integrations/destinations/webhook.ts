import { Type } from 'typebox'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import { signMessage } from '../../../platform/outbound/signature.ts'
import { call, hostOf } from './call.ts'
import {
  type Chunk,
  type DestinationContext,
  DestinationError,
  type DestinationType,
  exportedAll,
  failed,
  type Outcome,
  type OutgoingRecord,
} from './destination.ts'

const settings = strictObject({
  url: Type.String({
    maxLength: 2_000,
    description: 'The http or https URL that receives records.',
  }),
})
const secrets = strictObject({
  signing_secret: Type.String({
    pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
    description:
      'The secret that signs messages (Standard Webhooks): whsec_ and 24 to 64 bytes in Base64.',
  }),
})

const messageRecords = 500
/** Messages of a chunk: the most unanswered messages, which are posted again after a crash. */
export const windowMessages = 8

type Context = DestinationContext<{ url: string }, { signing_secret: string }>

/**
 * Posts signed JSON, as described by Standard Webhooks. `export.records` has some records of a chunk,
 * `export.ended` ends the run, and `export.removed` has the hems of people to remove. The messages of a chunk are
 * posted together, and a message that is posted again has the same webhook-id.
 */
export const webhook: DestinationType<typeof settings, typeof secrets> = {
  settings,
  secrets,
  formats: ['ndjson', 'hem'],
  chunkRecords: () => messageRecords * windowMessages,
  leastRecords: messageRecords,
  receivedKeys: keysOfAnswered,
  rate: { perSecond: 200, burst: 200 },
  removes: true,
  open: (context) => ({
    async check() {
      await post(context, `check-${context.integrationId}`, 'export.check', {})
      return `${hostOf(context.settings.url)} accepted a signed message of the type export.check.`
    },
    fields: async () => null,
    send: (chunk) => send(context, chunk),
    async finish({ runId, exportName, recordsExported }) {
      await post(context, `${runId}-ended`, 'export.ended', {
        run_id: runId,
        export: exportName,
        records_exported: recordsExported,
      })
    },
    async remove(recipients) {
      const hems = recipients.map(({ hem }) => hem)
      await post(context, `removed-${crypto.randomUUID()}`, 'export.removed', { hems })
    },
  }),
}

/** Posts the messages of a chunk that have no response from an earlier try. */
async function send(context: Context, chunk: Chunk): Promise<readonly Outcome[]> {
  const messages = messagesOf(chunk)
  const answers = answersIn(chunk.state)
  const [first, ...others] = messages.filter(({ after }) => !answers.has(after))
  try {
    // The first message is posted alone, to check that the receiver is reachable.
    if (first) answers.set(first.after, await postRecords(context, chunk, first))
    const settled = await Promise.allSettled(
      others.map(async (message) => {
        answers.set(message.after, await postRecords(context, chunk, message))
      }),
    )
    const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    if (failures.length > 0) throw failures.find(isLasting) ?? failures[0]
  } catch (error) {
    if (answers.size > 0) await chunk.saveState(Object.fromEntries(answers))
    throw error
  }
  return messages.flatMap(({ after, records }) => {
    const refusal = answers.get(after)!
    return refusal === null ? exportedAll(records) : records.map(() => failed('never', refusal))
  })
}

const isLasting = (error: unknown): boolean =>
  !(error instanceof DestinationError) || error.failureClass !== 'retry'

interface RecordsMessage {
  /** The last key before its records; 0 for the first records of a run. */
  readonly after: number
  readonly records: readonly OutgoingRecord[]
}

/** Divides a chunk by keys, so that a message contains the same records in every try. */
function messagesOf({ after, keys, records }: Pick<Chunk, 'after' | 'keys' | 'records'>) {
  const messages: RecordsMessage[] = []
  let next = 0
  for (let from = 0; from < keys.length; from += messageRecords) {
    const last = keys[Math.min(from + messageRecords, keys.length) - 1]!
    const begin = next
    while (next < records.length && records[next]!.key <= last) next++
    const before = from === 0 ? after : keys[from - 1]!
    if (next > begin) messages.push({ after: before, records: records.slice(begin, next) })
  }
  return messages
}

/** The responses by `after` of each message: null if its records were accepted, or the reason. */
const answersIn = (state: unknown): Map<number, string | null> =>
  new Map(
    Object.entries((state ?? {}) as Record<string, string | null>).map(([after, refusal]) => [
      Number(after),
      refusal,
    ]),
  )

function keysOfAnswered(state: unknown, keys: readonly number[]): ReadonlySet<number> {
  const answers = answersIn(state)
  const received = new Set<number>()
  const chunk = keys.slice(0, messageRecords * windowMessages)
  for (let from = 0; from < chunk.length; from += messageRecords) {
    const part = chunk.slice(from, from + messageRecords)
    const isFirst = from === 0
    const isReceived = [...answers].some(
      ([after, refusal]) =>
        refusal === null && (isFirst ? after < part[0]! : after === chunk[from - 1]),
    )
    if (isReceived) for (const key of part) received.add(key)
  }
  return received
}

/** Posts the records of one message. Returns null, or the reason why the receiver refused this body. */
async function postRecords(
  context: Context,
  { runId, exportName }: Chunk,
  { after, records }: RecordsMessage,
): Promise<string | null> {
  try {
    await post(context, `${runId}-${after}`, 'export.records', {
      run_id: runId,
      export: exportName,
      records: records.map(({ values }) => values),
    })
    return null
  } catch (error) {
    if (error instanceof DestinationError && error.failureClass === 'never') return error.message
    throw error
  }
}

/** Only the status of a receiver's response counts. */
const onlyStatus = { takesPart: true, responseBytesMax: 1_024 }

/** Posts one message. Throws DestinationError unless the receiver responds with success. */
async function post(context: Context, id: string, type: string, data: object): Promise<void> {
  const { url } = context.settings
  const nowMs = context.now()
  const body = JSON.stringify({ type, timestamp: new Date(nowMs).toISOString(), data })
  const { status } = await call(context, {
    method: 'POST',
    url,
    body,
    ...onlyStatus,
    headers: {
      'content-type': 'application/json',
      ...signMessage([context.secrets.signing_secret], { id, nowMs, body }),
    },
  })
  if (status >= 200 && status < 300) return
  // These statuses concern only one body; others concern the address or the signature.
  const isOfBody = status === 400 || status === 413 || status === 422
  throw new DestinationError(
    isOfBody ? 'never' : 'needs_action',
    `${hostOf(url)} answered ${status}.`,
  )
}
