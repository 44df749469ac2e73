import type { FastifyRequest } from 'fastify'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { isUuid } from '../../../schemas/uuid.ts'
import { ApiError } from '../../api/http/errors.ts'
import type { IngestDeps } from './acceptBeacon.ts'
import type { Pixel } from './pixels.ts'

/** The errors of a whole beacon that its pixel's owner can do something about. */
const recorded = ['origin not allowed', 'pixel inactive', 'malformed']
/** In each worker, of each pixel and error: enough to see what is wrong, whoever sends how much. */
const recordedPerMinute = 6
const noCookie = '00000000-0000-0000-0000-000000000000'

/**
 * Keeps in `rejected_events` that a beacon was refused, and why, where it names a pixel. Nothing of what it held is
 * kept: its visitor was not asked.
 */
export function createRefusals({ pixels, spools }: Pick<IngestDeps, 'pixels' | 'spools'>) {
  const budget = new RateLimiterMemory({ points: recordedPerMinute, duration: 60 })

  return async (request: FastifyRequest, error: unknown): Promise<void> => {
    if (!(error instanceof ApiError) || !recorded.includes(error.error)) return
    const pixel = pixels.get(pixelIdIn(request) ?? '')
    if (!pixel) return
    try {
      await budget.consume(`${pixel.pixelId} ${error.error}`)
      await spools.rejected_events.append([refusalRow(pixel, error)])
    } catch {
      // Over the budget, or the spool is full: the answer has told it.
    }
  }
}

const pixelIdMember = /"pixel_id"\s*:\s*"([\da-f-]{36})"/i

/** The pixel that a request names, of whose body perhaps nothing else can be read. */
function pixelIdIn({ body, query }: FastifyRequest): string | undefined {
  const named = Buffer.isBuffer(body)
    ? pixelIdMember.exec(body.toString('latin1'))?.[1]
    : (query as { pixel_id?: unknown }).pixel_id
  return isUuid(named) ? named.toLowerCase() : undefined
}

const refusalRow = (pixel: Pixel, { error, message }: ApiError): string =>
  JSON.stringify({
    received_at: new Date().toISOString(),
    organization_id: pixel.organizationId,
    project_id: pixel.projectId,
    pixel_id: pixel.pixelId,
    cookie_id: noCookie,
    event_id: null,
    event_type: null,
    refusal: error,
    path: '',
    message: message.slice(0, 500).toWellFormed(),
    event: '',
  })
