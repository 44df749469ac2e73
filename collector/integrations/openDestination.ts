import { setTimeout as delay } from 'node:timers/promises'
import type { Outbound } from '../outbound/outbound.ts'
import { OutboundError } from '../outbound/outboundError.ts'
import type { OpenDeps } from './deps.ts'
import { type Destination, DestinationError } from './destinations/destination.ts'
import { destinationTypes } from './destinations/index.ts'
import { purposeOf, type SealedIntegration } from './integrations.ts'

/** A step waits so long for its turn; past it the run is parked. */
const waitSecondsMax = 5

/** A destination, and what was asked of it. */
export interface OpenedDestination extends Destination {
  /** Whether it may have got anything since it was opened, whatever it answered. */
  isReached(): boolean
}

/** Opens the destination of an integration. Throws DestinationError where its secrets cannot be opened. */
export function openDestination(
  { postgres, outbound, sealer, now }: OpenDeps,
  integration: Pick<SealedIntegration, 'id' | 'type' | 'settings' | 'sealedSecrets'>,
): OpenedDestination {
  const { id, type, settings, sealedSecrets } = integration
  const { rate, open } = destinationTypes[type]
  let isReached = false
  const send: Outbound['send'] = async (request) => {
    try {
      const answer = await outbound.send(request)
      isReached ||= request.method !== 'GET'
      return answer
    } catch (error) {
      isReached ||= request.method !== 'GET' && !(error instanceof OutboundError && error.isUnsent)
      throw error
    }
  }
  const destination = open({
    ...{ integrationId: id, settings, outbound: { ...outbound, send }, now },
    secrets: readSecrets(),
    noteReached() {
      isReached = true
    },
    // One bucket for an integration, whatever process asks.
    async takeToken() {
      for (;;) {
        const { rows } = await postgres.query<{ refused: number; wait_seconds: number }>({
          name: 'take_integration_token',
          text: 'SELECT refused, wait_seconds FROM take_tokens($1, $2, $3)',
          values: [[`integration:${id}`], [1 / rate.perSecond], [rate.burst]],
        })
        const { refused, wait_seconds } = rows[0]!
        if (refused === 0) return
        if (wait_seconds > waitSecondsMax) {
          throw new DestinationError('retry', 'The integration has too much to send now.', waitSecondsMax)
        }
        await delay(wait_seconds * 1000)
      }
    },
  })
  return { ...destination, isReached: () => isReached }

  function readSecrets() {
    try {
      return JSON.parse(sealer.open(sealedSecrets, purposeOf(id))) as Record<string, unknown>
    } catch {
      throw new DestinationError(
        'mend',
        'The integration’s secrets cannot be opened with the keys that this service has: give them again.',
      )
    }
  }
}
