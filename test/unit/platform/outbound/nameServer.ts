import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** A DNS server of our own: answers each question for an IPv4 address by what `addressOf` says at that moment. */
export async function startNameServer(addressOf: (host: string) => string | null) {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const { host, type, end } = readQuestion(question)
    const found = type === 1 ? addressOf(host) : null
    const head = Buffer.from(question.subarray(0, 12))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(found === null ? 0 : 1, 6)
    head.writeUInt16BE(0, 8)
    head.writeUInt16BE(0, 10)
    const answer =
      found === null
        ? Buffer.alloc(0)
        : Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...found.split('.').map(Number)])
    socket.send(Buffer.concat([head, question.subarray(12, end), answer]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    server: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  }
}

function readQuestion(message: Buffer): { host: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { host: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}
