import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { LogUnavailable } from '../log/eventLog.ts'
import type { NatsLink } from './natsLink.ts'

/** A message for one stream. `id` identifies its rows, so that a repeated publish is stored once. */
export interface LogMessage {
  subject: string
  id: string
  bytes: Uint8Array
}

const attemptMs = 1_000
const retryMs = 100

/**
 * Publishes a message until a majority of the replicas has it, and resolves with its position. Rejects with
 * LogUnavailable after `withinMs`. The message may have been stored nevertheless: no answer arrived.
 */
export async function publish(
  link: NatsLink,
  { subject, id, bytes }: LogMessage,
  withinMs: number,
): Promise<number> {
  const until = performance.now() + withinMs
  let reason = 'NATS is not connected'
  do {
    const { client } = link
    if (client) {
      try {
        const ack = await client.stream.publish(subject, bytes, { msgID: id, timeout: attemptMs })
        return ack.seq
      } catch (error) {
        reason = (error as Error).message
      }
    } else if (withinMs < Infinity) break
    await delay(retryMs)
  } while (performance.now() < until)
  throw new LogUnavailable(`NATS did not store the rows: ${reason}`)
}
