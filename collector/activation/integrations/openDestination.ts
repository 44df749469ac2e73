import { setTimeout as delay } from 'node:timers/promises'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { OutboundError } from '../../platform/outbound/outboundError.ts'
import {
  type Destination,
  type DestinationContext,
  DestinationError,
} from './destinations/destination.ts'
import { destinationTypes } from './destinations/index.ts'
import { purposeOf, type SealedIntegration } from './integrations.ts'
import type { OpenDeps } from './integrationsDeps.ts'

/** How long a step waits for the rate limit before its run is parked. */
const waitSecondsMax = 5

/** Receives notice before and after data is sent to a destination. */
export interface SendingLog {
  /** Called before data may be sent: a process that dies later may have sent data. */
  begun(): Promise<void>
  /** Called after `begun` if nothing was sent. */
  unsent(): Promise<void>
}

/** Opens the destination of an integration. Throws DestinationError if its secrets cannot be decrypted. */
export function openDestination(
  { postgres, outbound, secretBox, now }: OpenDeps,
  integration: Pick<SealedIntegration, 'id' | 'type' | 'settings' | 'sealedSecrets'>,
  log?: SendingLog,
): Destination {
  const { id, type, settings, sealedSecrets } = integration
  const { rate, open } = destinationTypes[type]
  let isReached = false
  const sending: DestinationContext['sending'] = async (send, isUnsent) => {
    if (!isReached) await log?.begun()
    try {
      const answer = await send()
      isReached = true
      return answer
    } catch (error) {
      if (!isUnsent(error)) isReached = true
      else if (!isReached) await log?.unsent()
      throw error
    }
  }
  const send: Outbound['send'] = (request) =>
    request.method === 'GET'
      ? outbound.send(request)
      : sending(
          () => outbound.send(request),
          (error) => error instanceof OutboundError && error.isUnsent,
        )
  return open({
    integrationId: id,
    settings,
    outbound: { ...outbound, send },
    now,
    sending,
    secrets: readSecrets(),
    // All processes share one bucket per integration.
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
          throw new DestinationError(
            'retry',
            'The integration has too many requests in progress.',
            waitSecondsMax,
          )
        }
        await delay(wait_seconds * 1000)
      }
    },
  })

  function readSecrets() {
    try {
      return JSON.parse(secretBox.open(sealedSecrets, purposeOf(id))) as Record<string, unknown>
    } catch {
      throw new DestinationError(
        'needs_action',
        'The integration’s secrets were encrypted with another key. Enter them again.',
      )
    }
  }
}
