import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How a connection begins whose next requests a server reads in front of Node's parser: with one that is answered. */
export const openedInFront = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'

const longestMs = 60_000

export interface Pace {
  /** From one write to the next. */
  betweenWritesMs: number
  /** Silence after which no more answers are waited for. */
  silentMs: number
}

/** One answer, or what is left of the bytes where they are none. */
export interface Answer {
  status: number
  /** All of it, without what is different each time. */
  text: string
}

/**
 * Opens a connection, waits for the answer to the first part, and writes the rest (Latin-1). Resolves with
 * all further answers when the connection has ended or been silent for a time. Removes `Date` and request
 * ids.
 */
export async function converse(
  port: number,
  opening: string,
  writes: readonly string[],
  { betweenWritesMs, silentMs }: Pace,
): Promise<Answer[]> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  let read = ''
  let lastAt = performance.now()
  let isOver = false
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    read += text
    lastAt = performance.now()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isOver = true
  })
  await once(socket, 'connect')
  socket.write(opening, 'latin1')
  const openings = opening.split('GET ').length - 1
  const endAt = performance.now() + longestMs
  while (answersIn(read).length < openings) {
    if (isOver || performance.now() > endAt) throw new Error(`the opening was answered by ${read}`)
    await delay(1)
  }
  for (const text of writes) {
    if (socket.writable) socket.write(text, 'latin1')
    await delay(betweenWritesMs)
  }
  lastAt = performance.now()
  while (!isOver && performance.now() - lastAt < silentMs && performance.now() < endAt)
    await delay(5)
  socket.destroy()
  return answersIn(read).slice(openings)
}

/** The answers that these bytes are: each with a Content-Length, in chunks, or without a body. */
function answersIn(read: string): Answer[] {
  const answers: Answer[] = []
  for (let at = 0; at < read.length; ) {
    const bodyAt = read.indexOf('\r\n\r\n', at) + 4
    const head = read.slice(at, bodyAt)
    const isInChunks = /\r\ntransfer-encoding: chunked/i.test(head)
    const length = isInChunks
      ? read.indexOf('0\r\n\r\n', bodyAt) + 5 - bodyAt
      : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (bodyAt < 4 || read.length < bodyAt + length)
      return [...answers, { status: 0, text: read.slice(at) }]
    const text = read.slice(at, bodyAt + length)
    answers.push({
      status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0),
      text: comparable(text),
    })
    at = bodyAt + length
  }
  return answers
}

const comparable = (text: string): string =>
  text
    .replace(/\r\nDate: [^\r]*/i, '')
    .replace(/\r\nX-Request-Id: [^\r]*/i, '')
    .replace(/"request_id":"[^"]*"/, '"request_id":""')

/** An error that ends its connection. */
const endsIt = (answer: Answer | undefined): boolean =>
  answer !== undefined && answer.status >= 400 && /\r\nConnection: close\r\n/.test(answer.text)

/**
 * Common answers of both. An error that ends the connection overtakes pending answers of Node, or is not sent
 * during one. The reader in front of its parser answers beacons one by one. So there may be more answers
 * before such an error (`isEnded`), and it may be another one. None may be missing and none may differ.
 */
export function alike(
  mine: Answer[],
  nodes: Answer[],
): { mine: string[]; nodes: string[]; isEnded: boolean } {
  const [mineBefore, nodesBefore] = [mine, nodes].map((answers) =>
    (endsIt(answers.at(-1)) ? answers.slice(0, -1) : answers).map(({ text }) => text),
  ) as [string[], string[]]
  const isEnded = endsIt(mine.at(-1)) || endsIt(nodes.at(-1))
  return {
    mine: isEnded ? mineBefore.slice(0, nodesBefore.length) : mineBefore,
    nodes: nodesBefore,
    isEnded,
  }
}
