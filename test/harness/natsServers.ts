import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { waitFor } from './service.ts'

interface Node {
  monitor: number
  name: string
  port: number
  configuration: string
  process: ChildProcess | null
}

/** Real servers of NATS, one JetStream cluster. */
export interface NatsServers {
  /** Addresses of all nodes. */
  urls: string[]
  /** Kills a node and waits until it has ended. */
  kill(index: number): Promise<void>
  /** Suspends a node, or continues it. */
  signal(index: number, signal: NodeJS.Signals): void
  /** Starts killed nodes again, and waits until all nodes have caught up. */
  startAgain(): Promise<void>
  stop(): Promise<void>
}

/** Starts three nodes of Debian’s nats-server with file storage. */
export async function startNatsServers(count = 3): Promise<NatsServers> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-nats-'))
  const routes = await Promise.all(Array.from({ length: count }, () => freePort()))
  const nodes: Node[] = await Promise.all(
    routes.map(async (route, index) => {
      const [port, monitor] = await Promise.all([freePort(), freePort()])
      const name = `n${index + 1}`
      const configuration = join(directory, `${name}.conf`)
      const data = join(directory, name)
      mkdirSync(data)
      writeFileSync(
        configuration,
        `server_name: ${name}
host: 127.0.0.1
port: ${port}
http: 127.0.0.1:${monitor}
jetstream { store_dir: "${data}", max_file_store: 1GB, max_memory_store: 64MB }
cluster { name: footfall, listen: 127.0.0.1:${route}
  routes: [${routes.map((each) => `nats://127.0.0.1:${each}`).join(', ')}] }
`,
      )
      return { name, port, monitor, configuration, process: null }
    }),
  )
  const start = (node: Node) => {
    node.process = spawn('nats-server', ['-c', node.configuration], { stdio: 'ignore' })
    const { process: child } = node
    const killWithUs = () => child.kill('SIGKILL')
    process.once('exit', killWithUs)
    child.once('exit', () => process.off('exit', killWithUs))
  }
  const end = async (node: Node) => {
    const child = node.process
    node.process = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  const servers: NatsServers = {
    urls: nodes.map(({ port }) => `nats://127.0.0.1:${port}`),
    kill: (index) => end(nodes[index]!),
    signal: (index, signal) => void nodes[index]!.process?.kill(signal),
    async startAgain() {
      for (const node of nodes) if (!node.process) start(node)
      await waitFor('all nodes of NATS', () =>
        Promise.all(nodes.map(isCurrent)).then((all) => all.every(Boolean)),
      )
    },
    async stop() {
      await Promise.all(nodes.map(end))
      rmSync(directory, { recursive: true, force: true })
    },
  }
  await servers.startAgain()
  return servers
}

/** Whether a node has all that its streams contain, so that another may be killed. */
const isCurrent = ({ monitor }: Node): Promise<boolean> =>
  fetch(`http://127.0.0.1:${monitor}/healthz`).then(
    (answer) => answer.ok,
    () => false,
  )
