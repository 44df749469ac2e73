import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { chrome } from '../harness/api.ts'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

const answerTimeoutMs = 10_000

/** One kept-alive connection to the service, opened again when it broke. */
export class Connection {
  readonly #url: string
  #agent = newAgent()

  constructor(url: string) {
    this.#url = url
  }

  /** Posts a body as the pixel does. Rejects when no whole answer came within ten seconds. */
  post(path: string, body: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const post = request(
        `${this.#url}${path}`,
        {
          method: 'POST',
          agent: this.#agent,
          headers: {
            'content-type': 'text/plain',
            'content-length': Buffer.byteLength(body),
            'user-agent': chrome,
          },
        },
        (answer) => {
          let text = ''
          answer
            .setEncoding('utf8')
            .on('data', (chunk: string) => {
              text += chunk
            })
            .on('error', reject)
            .on('end', () =>
              resolve({ status: answer.statusCode!, headers: answer.headers, body: text }),
            )
        },
      )
      post.setTimeout(answerTimeoutMs, () =>
        post.destroy(new Error(`no answer in ${answerTimeoutMs} ms`)),
      )
      post.on('error', reject)
      post.end(body)
    })
  }

  /** The next post opens a new connection; one under way keeps its own. */
  close(): void {
    const old = this.#agent
    this.#agent = newAgent()
    for (const sockets of Object.values(old.freeSockets))
      for (const socket of sockets ?? []) socket.destroy()
  }
}

const newAgent = () => new Agent({ keepAlive: true, maxSockets: 1 })
