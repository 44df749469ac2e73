import type { Consumer, JsMsg } from '@nats-io/jetstream'
import type { NatsLink } from './natsLink.ts'

export interface ReadMessage {
  seq: number
  record: Uint8Array
}

const fetchMessages = 200
const fetchMs = 1_000
/** How long a request may take that should end within `fetchMs`. */
const silentMs = 3_000
/** After so many fetches without a message, it asks whether the consumer still exists. */
const emptyMax = 2
/** NATS deletes a consumer that nobody asks for this long. */
const inactiveNs = 30 * 1e9

/**
 * Reads the messages of a stream in their order, from a position on. It uses a consumer of JetStream without
 * acknowledgements, which remembers only what it has sent: PostgreSQL has the committed position.
 */
export class MessageReader {
  readonly #link: NatsLink
  readonly #stream: string
  #next: number
  /** How many fetches in a row found nothing. */
  #empty = 0
  #consumer: { name: string; consumer: Consumer } | null = null

  constructor(link: NatsLink, stream: string, from: number) {
    this.#link = link
    this.#stream = stream
    this.#next = from
  }

  /** Yields the messages that exist now or arrive within a second. Throws if NATS does not answer. */
  async *read(): AsyncGenerator<ReadMessage> {
    this.#consumer ??= await this.#open()
    const { consumer } = this.#consumer
    try {
      let isEmpty = true
      let isBusy = false
      let isSilent = false
      const messages = await consumer.fetch({ max_messages: fetchMessages, expires: fetchMs })
      // A request that a broken connection has lost gets no end.
      const guard = setInterval(() => {
        isSilent = !isBusy
        if (isSilent) messages.stop()
      }, silentMs)
      try {
        for await (const message of messages) {
          // A message was lost on its way to us. The next consumer starts with it.
          if (isGap(message, this.#next)) {
            this.#drop()
            return
          }
          isEmpty = false
          this.#next = message.seq + 1
          isBusy = true
          yield { seq: message.seq, record: message.data }
          isBusy = false
        }
      } finally {
        clearInterval(guard)
      }
      if (isSilent) {
        this.#drop()
        return
      }
      this.#empty = isEmpty ? this.#empty + 1 : 0
      if (this.#empty >= emptyMax) await this.#check()
    } catch (error) {
      this.#drop()
      throw error
    }
  }

  /** A consumer disappears with its server, and then sends nothing. Throws if this one did. */
  async #check(): Promise<void> {
    this.#empty = 0
    const client = await this.#link.ready()
    if (this.#consumer) await client.manager.consumers.info(this.#stream, this.#consumer.name)
  }

  close(): void {
    this.#drop()
  }

  async #open() {
    const client = await this.#link.ready()
    const { name } = await client.manager.consumers.add(this.#stream, {
      ack_policy: 'none',
      deliver_policy: 'by_start_sequence',
      opt_start_seq: this.#next,
      inactive_threshold: inactiveNs,
      mem_storage: true,
      num_replicas: 1,
      max_deliver: 1,
    })
    const consumer = await client.stream.consumers.get(this.#stream, name)
    return { name, consumer }
  }

  #drop(): void {
    const dropped = this.#consumer
    this.#consumer = null
    // NATS deletes it later if this fails.
    if (dropped)
      this.#link.client?.manager.consumers.delete(this.#stream, dropped.name).catch(() => false)
  }
}

/** Messages are only deleted from the beginning of a stream, so a consumer skips none after its first. */
const isGap = (message: JsMsg, next: number): boolean =>
  message.seq > next && message.info.deliverySequence > 1
