import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const longestMs = 60_000

interface Pace {
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
 * Opens a connection and writes these parts (Latin-1). Resolves with all answers when the connection has ended or been
 * silent for a time. Removes `Date` and request ids.
 */
export async function converse(
  port: number,
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
  const endAt = performance.now() + longestMs
  for (const text of writes) {
    if (socket.writable) socket.write(text, 'latin1')
    await delay(betweenWritesMs)
  }
  lastAt = performance.now()
  while (!isOver && performance.now() - lastAt < silentMs && performance.now() < endAt)
    await delay(5)
  socket.destroy()
  return answersIn(read)
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
