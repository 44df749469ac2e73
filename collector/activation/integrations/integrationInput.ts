import { Compile, type Validator } from 'typebox/compile'
import { invalidParameter } from '../../api/http/errors.ts'
import { describeFault, nameOfPath, pathOf } from '../../api/http/faultWords.ts'
import { errorsOf } from '../../api/http/validation.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { OutboundError } from '../../platform/outbound/outboundError.ts'
import {
  type IntegrationType,
  integrationTypes,
  type OutputFormat,
} from './destinations/destination.ts'
import { destinationTypes } from './destinations/index.ts'

const validators = Object.fromEntries(
  integrationTypes.map((type) => {
    const { settings, secrets } = destinationTypes[type]
    return [type, { settings: Compile(settings), secrets: Compile(secrets) }]
  }),
) as unknown as Record<IntegrationType, Record<'settings' | 'secrets', Validator>>

/** Throws 400 with the first fault in the settings or secrets of a type, without a secret. */
export function requireValid(
  type: IntegrationType,
  part: 'settings' | 'secrets',
  value: unknown,
): void {
  const validator = validators[type][part]
  if (validator.Check(value)) return
  const faults = errorsOf(validator, value)
  const [fault] = faults
  const { requiredProperties = [], additionalProperties = [] } = (fault?.params ?? {}) as {
    requiredProperties?: string[]
    additionalProperties?: string[]
  }
  const [required, unknown] = [requiredProperties[0], additionalProperties[0]]
  const path = [part, ...(fault ? pathOf(fault) : []), required ?? unknown ?? []].flat()
  throw invalidParameter(nameOfPath(path), `${wordsOf()} (an integration of the type ${type})`)

  function wordsOf() {
    if (required !== undefined) return 'is required'
    if (unknown !== undefined) return 'is not allowed'
    if (!fault) return 'must match its schema'
    // The name of the part prevents a secret's value in the error.
    return describeFault(
      faults.map((one) => ({ ...one, instancePath: `/${part}${one.instancePath}` })),
      { [part]: value },
    )
  }
}

/** Returns a missing setting that an output format needs; undefined if none is missing. */
export const findMissingSetting = (
  type: IntegrationType,
  settings: Record<string, unknown>,
  outputFormat: OutputFormat,
): string | undefined =>
  destinationTypes[type]
    .requiredSettings?.(outputFormat)
    .find((name) => settings[name] === undefined)

/** Settings with addresses to which secrets are sent. */
const addresses = ['url', 'endpoint', 'api_base', 'data_base', 'instance_url'] as const

/** Throws 400 for an invalid or internal address. */
export async function requireReachable(
  outbound: Outbound,
  settings: Record<string, unknown>,
): Promise<void> {
  for (const name of addresses) {
    const address = settings[name]
    if (typeof address !== 'string') continue
    await outbound.check(address).catch((error: unknown) => {
      throw error instanceof OutboundError
        ? invalidParameter(`settings.${name}`, error.message)
        : error
    })
  }
}

/**
 * Throws 400 if an address changes without new secrets. A user who may change an integration, but does not
 * know its secrets, must not redirect them to another address.
 */
export function requireSecretsForNewAddress(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  secrets: unknown,
): void {
  const changed = addresses.find((name) => before[name] !== after[name])
  if (changed === undefined || secrets !== undefined) return
  throw invalidParameter('secrets', `must be sent again when settings.${changed} changes`)
}
