import type { Static } from 'typebox'
import { DestinationError } from './destinations/destination.ts'
import type { Check } from './integrationSchemas.ts'
import type { SealedIntegration } from './integrations.ts'
import type { OpenDeps } from './integrationsDeps.ts'
import { openDestination } from './openDestination.ts'

export async function checkIntegration(
  deps: OpenDeps,
  integration: SealedIntegration,
): Promise<Static<typeof Check>> {
  const checked_at = new Date(deps.now()).toISOString()
  try {
    const destination = openDestination(deps, integration)
    const message = await destination.check()
    const fields = await destination.fields()
    return {
      works: true,
      message,
      checked_at,
      fields: fields?.map(({ name, label }) => ({ name, label })) ?? null,
    }
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error
    return { works: false, message: error.message, fields: null, checked_at }
  }
}
