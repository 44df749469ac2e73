import { setTimeout as delay } from 'node:timers/promises'
import type { OpenDeps } from './deps.ts'
import { type Destination, DestinationError } from './destinations/destination.ts'
import { destinationTypes } from './destinations/index.ts'
import { purposeOf, type SealedIntegration } from './integrations.ts'

/** A step waits so long for its turn; past it the run is parked. */
const waitSecondsMax = 5

/** Opens the destination of an integration. Throws DestinationError where its secrets cannot be opened. */
export function openDestination(
  { postgres, outbound, sealer, now }: OpenDeps,
  integration: Pick<SealedIntegration, 'id' | 'type' | 'settings' | 'sealedSecrets'>,
): Destination {
  const { id, type, settings, sealedSecrets } = integration
  const { rate, open } = destinationTypes[type]
  return open({
    ...{ integrationId: id, settings, outbound, now },
    secrets: readSecrets(),
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
