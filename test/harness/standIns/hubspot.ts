import { type Answered, jsonOf, type StandIn, startStandIn } from './standIn.ts'

interface Input {
  id: string
  idProperty: string
  objectWriteTraceId?: string
  properties: Record<string, string>
}
interface Contact {
  id: string
  properties: Record<string, string>
  isArchived: boolean
}

export interface HubSpot extends StandIn {
  /** By their e-mail addresses. */
  contacts: Map<string, Contact>
  /** How often a contact was written. */
  writes: number
}

export const hubspotToken = 'pat-test-hubspot'
const properties = ['email', 'firstname', 'lastname', 'phone', 'jobtitle', 'company']
const batchMax = 100

/**
 * The contacts of HubSpot's CRM API v3, as documented. A batch of upserts answers 207 if some fail (addresses
 * at conflict.example do), and is refused completely for one invalid property or address.
 */
export async function startHubSpot(): Promise<HubSpot> {
  const contacts = new Map<string, Contact>()
  const standIn = await startStandIn((asked) => {
    if (asked.headers.authorization !== `Bearer ${hubspotToken}`) {
      return refusal(401, 'INVALID_AUTHENTICATION', 'Authentication credentials not found.')
    }
    switch (`${asked.method} ${asked.url.pathname}`) {
      case 'GET /crm/v3/properties/contacts':
        return { status: 200, body: { results: [...properties.map(property), readOnly] } }
      case 'POST /crm/v3/objects/contacts/batch/upsert':
        return upsert(jsonOf<{ inputs: Input[] }>(asked).inputs)
      case 'POST /crm/v3/objects/contacts/batch/archive':
        for (const { id } of jsonOf<{ inputs: { id: string }[] }>(asked).inputs)
          for (const contact of contacts.values()) if (contact.id === id) contact.isArchived = true
        return { status: 204 }
      default:
        return refusal(404, 'OBJECT_NOT_FOUND', 'There is no such address.')
    }
  })

  const upsert = (inputs: Input[]): Answered => {
    const fault = wholeFault(inputs)
    if (fault) return refusal(400, 'VALIDATION_ERROR', fault)
    const [results, errors]: [object[], object[]] = [[], []]
    for (const { id, objectWriteTraceId, properties: given } of inputs) {
      const email = id.toLowerCase()
      if (email.endsWith('@conflict.example')) {
        errors.push({
          status: 'error',
          category: 'CONFLICT',
          message: `${email} belongs to another contact`,
          context: { objectWriteTraceId: [objectWriteTraceId], ids: [id] },
        })
        continue
      }
      const known = contacts.get(email)
      const contact = known ?? {
        id: String(1_000 + contacts.size),
        properties: {},
        isArchived: false,
      }
      Object.assign(contact.properties, given)
      contacts.set(email, contact)
      hubspot.writes++
      results.push({
        id: contact.id,
        new: !known,
        objectWriteTraceId,
        properties: contact.properties,
      })
    }
    if (errors.length === 0) return { status: 200, body: { status: 'COMPLETE', results } }
    return { status: 207, body: { status: 'COMPLETE', results, numErrors: errors.length, errors } }
  }
  const hubspot: HubSpot = Object.assign(standIn, { contacts, writes: 0 })
  return hubspot
}

function wholeFault(inputs: Input[]): string | null {
  if (inputs.length > batchMax) return 'No more than 100 inputs.'
  if (new Set(inputs.map(({ id }) => id.toLowerCase())).size !== inputs.length)
    return 'Duplicate IDs found in batch'
  for (const { id, idProperty, properties: given } of inputs) {
    if (idProperty !== 'email') return 'idProperty has to be unique'
    if (!/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(id)) return `Email address ${id} is invalid`
    const unknown = Object.keys(given).find((name) => !properties.includes(name))
    if (unknown) return `Property "${unknown}" does not exist`
  }
  return null
}

const property = (name: string) => ({
  name,
  label: name.toUpperCase(),
  type: 'string',
  calculated: false,
})
const readOnly = { ...property('createdate'), modificationMetadata: { readOnlyValue: true } }

const refusal = (status: number, category: string, message: string): Answered => ({
  status,
  body: { status: 'error', category, message, correlationId: 'x' },
})

/** Its answers to too many requests. */
export const tooMany = {
  inTenSeconds: {
    status: 429,
    body: {
      status: 'error',
      errorType: 'RATE_LIMIT',
      policyName: 'TEN_SECONDLY_ROLLING',
      message: 'Slow down.',
    },
  },
  today: {
    status: 429,
    body: {
      status: 'error',
      errorType: 'RATE_LIMIT',
      policyName: 'DAILY',
      message: 'You have reached your daily limit.',
    },
  },
} satisfies Record<string, Answered>
