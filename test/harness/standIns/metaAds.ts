import { type Answered, jsonOf, type StandIn, startStandIn } from './standIn.ts'

export interface Meta extends StandIn {
  /** Hashed addresses in the custom audience. */
  people: Set<string>
  sessions: Set<number>
}

export const metaToken = 'EAAtesttoken'
export const metaAudience = '23850000000000000'

/**
 * The users of a custom audience of Meta's Marketing API, as they are published: entries that are no SHA-256 of an
 * e-mail address, or begin with `bad`, are invalid; samples of them are told, and not of more than three.
 */
export async function startMeta(): Promise<Meta> {
  const people = new Set<string>()
  const sessions = new Set<number>()
  const standIn = await startStandIn(
    (asked): Answered => {
      if (asked.headers.authorization !== `Bearer ${metaToken}`)
        return refusal(401, 190, 'Invalid OAuth access token.')
      const [, , audience, edge] = asked.url.pathname.split('/')
      if (audience !== metaAudience) return refusal(400, 100, 'Unsupported request.')
      if (edge === undefined) return { status: 200, body: { id: audience, name: 'Visitors' } }
      const { payload, session } = jsonOf<{
        payload: { schema: string[]; data: string[][] }
        session?: { session_id: number; batch_seq: number; last_batch_flag: boolean }
      }>(asked)
      if (payload.schema.join() !== 'EMAIL_SHA256') return refusal(400, 100, 'Invalid parameter')
      if (payload.data.length > 10_000) return refusal(400, 100, 'Too many users.')
      const entries = payload.data.map(([entry]) => entry!)
      const isValid = (entry: string) => /^[0-9a-f]{64}$/.test(entry) && !entry.startsWith('bad')
      const invalid = entries.filter((entry) => !isValid(entry))
      for (const entry of entries.filter(isValid))
        asked.method === 'DELETE' ? people.delete(entry) : people.add(entry)
      if (session) sessions.add(session.session_id)
      return {
        status: 200,
        body: {
          audience_id: audience,
          session_id: String(session?.session_id ?? ''),
          num_received: entries.length,
          num_invalid_entries: invalid.length,
          invalid_entry_samples: Object.fromEntries(
            invalid.slice(0, 3).map((entry, index) => [index, entry]),
          ),
        },
      }
    },
    ({ method }) => method === 'GET',
  )
  return Object.assign(standIn, { people, sessions })
}

const refusal = (status: number, code: number, message: string): Answered => ({
  status,
  body: { error: { message, type: 'OAuthException', code, fbtrace_id: 'x' } },
})

/** Its answer to too many calls of an account. */
export const tooManyCalls = refusal(
  400,
  80003,
  'There have been too many calls to this ad-account.',
)
