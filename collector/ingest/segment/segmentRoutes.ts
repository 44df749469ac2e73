import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isUuid } from '../../../schemas/uuid.ts'
import { malformed, unauthorized } from '../../api/http/errors.ts'
import { ackSeconds } from '../../platform/metrics.ts'
import { acceptBeacon, type BeaconDeps } from '../beacon/acceptBeacon.ts'
import type { BeaconRequest } from '../beacon/beacon.ts'
import { answerPreflights } from '../beacon/cors.ts'
import { activePixel } from '../beacon/pixelRegistry.ts'
import { createNoteRefusal } from '../beacon/rejectedEvents.ts'
import type { Sender } from './message.ts'
import { beaconsOf, type Call, callBytesMax, readCall, storableEvents, unpack } from './readCall.ts'
import {
  type CallName,
  calls,
  longPath,
  measurementsPath,
  segmentPaths,
  shortPath,
} from './segmentPaths.ts'
import { describeBatch, describeMessage, type SegmentReceipt } from './segmentSchemas.ts'

/** Number of visitors after which other work of this process runs. A call may have thousands. */
const visitorsOfTurn = 50

const skipValidation = () => (value: unknown) => ({ value })

/**
 * Registers POST /v1/track, /v1/page, … and /v1/batch: Segment's HTTP API for its and RudderStack's
 * libraries. acceptBeacon handles each message like an event of `POST /e`.
 */
export function segmentRoutes(app: FastifyInstance, deps: BeaconDeps): void {
  app.removeAllContentTypeParsers()
  // Accepts any type, because RudderStack's library sends compressed JSON as a form.
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: callBytesMax },
    (_request, body, done) => done(null, body),
  )
  // analytics.js sends the last two headers.
  answerPreflights(app, segmentPaths, 'Content-Type, Authorization, X-Retry-Count')
  const noteRefusal = createNoteRefusal(deps.pixels, deps.recordRefusal)

  const answer = (call: CallName) => async (request: FastifyRequest) => {
    const arrivedAt = performance.now()
    let pixelId: string | undefined
    try {
      if (!(request.body instanceof Buffer))
        throw malformed('Send the message as JSON in the body.')
      const { authorization, 'content-encoding': encoding } = request.headers
      const identify = async (writeKey: WriteKey) => {
        pixelId = writeKey.pixelId
        return identifySender(deps, request, writeKey)
      }
      const inHeader = writeKeyInHeader(authorization)
      const known = inHeader ? await identify(readWriteKey(inHeader)) : undefined
      const readBody = async (body: Buffer, encoding: string | undefined) => {
        const read = readCall(await unpack(body, encoding), call)
        return { read, sender: known ?? (await identify(readWriteKey(read.writeKey))) }
      }
      // Before the body is unpacked and parsed, which costs more than to send it.
      if (!known?.isVerifiedBackend) await deps.limits.requireRoomOf(request.ip)
      const { read, sender } = await readBody(request.body, encoding).catch(async (error) => {
        // A call that cannot be read, or whose key is invalid, uses up the limit of its address like an event.
        if (!known?.isVerifiedBackend) await deps.limits.admit(request.ip, 1)
        throw error
      })
      const receipt = await accept(deps, request, sender, read)
      ackSeconds.observe((performance.now() - arrivedAt) / 1000)
      return receipt
    } catch (error) {
      await noteRefusal(error, pixelId)
      throw error
    }
  }
  const options = { bodyLimit: callBytesMax, validatorCompiler: skipValidation }
  const config = { unpacksBody: true } as const

  for (const call of calls) {
    const schema = call === 'batch' ? describeBatch : describeMessage(call)
    const handler =
      call === 'batch'
        ? answer(call)
        : async (request: FastifyRequest) => requireAccepted(await answer(call)(request))
    app.post(longPath(call), { ...options, config, schema }, handler)
    app.post(shortPath(call), { ...options, config, schema: { hide: true } }, handler)
  }
  app.post(measurementsPath, { ...options, config, schema: { hide: true } }, async () => ({
    success: true,
  }))
}

/**
 * Accepts the messages of all visitors of a call. The rate limits admit all of them or none, so that a call that is
 * refused stores nothing.
 */
async function accept(
  deps: BeaconDeps,
  request: FastifyRequest,
  sender: Sender,
  call: Call,
): Promise<SegmentReceipt> {
  const {
    pixel: { pixelId },
    isVerifiedBackend,
  } = sender
  if (!isVerifiedBackend) await deps.limits.admit(request.ip, Math.max(1, call.messages.length))
  const beacons = beaconsOf(sender, call)
  await deps.limits.requireRoom({ pixelId, isVerifiedBackend }, storableEvents(beacons))
  const { countAdmitted } = deps.limits
  const admitted: BeaconDeps = {
    ...deps,
    limits: { ...deps.limits, admit: async () => {}, countStored: countAdmitted },
  }
  const rejected: NonNullable<SegmentReceipt['rejected']> = []
  // Runs them concurrently, so that they share durable writes.
  await startInTurns(beacons, visitorsOfTurn, async ({ envelope, locale, places }) => {
    const { receipt } = await acceptBeacon(
      admitted,
      senderOf(request, locale),
      envelope,
      isVerifiedBackend ? async () => true : undefined,
    )
    for (const { index: at, event_id: _, path, ...fault } of receipt.rejected)
      rejected.push({ index: places[at]!, path: path.replace(/^\/event_data/, ''), ...fault })
  })
  if (rejected.length === 0) return { success: true }
  return { success: true, rejected: rejected.sort((a, b) => a.index - b.index) }
}

/** Messages contain their visitor's id, so the collector's cookie is not used. */
function senderOf(
  { headers: { cookie: _, ...headers }, ip, protocol, log }: FastifyRequest,
  locale: string | undefined,
): BeaconRequest {
  return {
    headers: locale === undefined ? headers : { ...headers, 'accept-language': locale },
    ip,
    protocol,
    log,
  }
}

/**
 * Returns the active pixel of a write key, and whether the write key has an API key that is valid for it. Rejects with
 * 401 for an invalid API key.
 */
async function identifySender(
  deps: BeaconDeps,
  request: FastifyRequest,
  { pixelId, apiKey, apiSecret }: WriteKey,
): Promise<Sender> {
  const pixel = activePixel(deps.pixels, pixelId)
  if (apiKey === undefined) return { pixel, isVerifiedBackend: false }
  Object.assign(request.headers, { 'x-api-key': apiKey, 'x-api-secret': apiSecret ?? '' })
  if (await deps.verifiesBackend(request, pixel)) return { pixel, isVerifiedBackend: true }
  throw unauthorized.key(
    'The write key names an API key that is not valid here. Use a live key that may write in the project of the pixel, with its secret.',
  )
}

/** Throws 400 "malformed" for a call whose only message is invalid. */
function requireAccepted(receipt: SegmentReceipt): SegmentReceipt {
  const fault = receipt.rejected?.find(({ code }) => code === 'invalid_event')
  if (!fault) return receipt
  throw malformed(`${fault.path.slice(1) || 'The message'} ${fault.message}.`)
}

/**
 * Starts work on all items without waiting for earlier ones. After each `ofTurn` items, other work of this process
 * runs. Resolves when all items are done. Rejects with the first error.
 */
export async function startInTurns<T>(
  items: readonly T[],
  ofTurn: number,
  start: (item: T) => Promise<void>,
): Promise<void> {
  const turns: Promise<unknown>[] = []
  for (let from = 0; from < items.length; from += ofTurn) {
    if (from > 0) await nextTurn()
    const turn = Promise.all(items.slice(from, from + ofTurn).map(start))
    // It is awaited below, after the next turns have started.
    turn.catch(() => {})
    turns.push(turn)
  }
  await Promise.all(turns)
}

/** The parts of a write key: the pixel, and for back ends an API key with its secret. */
interface WriteKey {
  pixelId: string
  apiKey?: string | undefined
  apiSecret?: string | undefined
}

/** Returns the text of the write key in basic authentication; empty without one. */
function writeKeyInHeader(authorization: string | undefined): string {
  const basic = /^Basic ([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '')?.[1]
  return basic === undefined ? '' : Buffer.from(basic, 'base64').toString().replace(/:$/, '')
}

/** Reads a write key: the id of a pixel, or `PIXEL_ID:API_KEY:API_SECRET`. Throws 401 "Invalid API key". */
function readWriteKey(text: unknown): WriteKey {
  const [pixelId, apiKey, apiSecret] = (typeof text === 'string' ? text : '').split(':')
  if (!isUuid(pixelId))
    throw unauthorized.key(
      'The write key must be the id of a pixel, or PIXEL_ID:API_KEY:API_SECRET. Send it as the user name of basic authentication or as writeKey in the body.',
    )
  return { pixelId: pixelId.toLowerCase(), apiKey, apiSecret }
}
