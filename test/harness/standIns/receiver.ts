import { Webhook } from 'standardwebhooks'
import { jsonOf, type StandIn, startStandIn } from './standIn.ts'

export const receiverSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export interface Message {
  type: string
  data: {
    run_id?: string
    records?: Record<string, unknown>[]
    hems?: string[]
    records_exported?: number
  }
}

export interface Receiver extends StandIn {
  /** Each message once, by its webhook-id, as a receiver that follows the specification keeps them. */
  messages: Map<string, Message>
  /** How often each came. */
  times: Map<string, number>
}

/** What receives webhooks: every signature is verified by the package of the Standard Webhooks specification. */
export async function startReceiver(): Promise<Receiver> {
  const messages = new Map<string, Message>()
  const isCheck: Parameters<typeof startStandIn>[1] = ({ headers }) =>
    String(headers['webhook-id']).startsWith('check-')
  const times = new Map<string, number>()
  const standIn = await startStandIn((asked) => {
    const id = String(asked.headers['webhook-id'])
    try {
      new Webhook(receiverSecret).verify(
        asked.body.toString(),
        asked.headers as Record<string, string>,
      )
    } catch {
      return { status: 401 }
    }
    messages.set(id, jsonOf<Message>(asked))
    times.set(id, (times.get(id) ?? 0) + 1)
    return { status: 204 }
  }, isCheck)
  return Object.assign(standIn, { messages, times })
}
